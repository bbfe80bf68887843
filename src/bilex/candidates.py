"""Nearest words with their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bilex.errors import TableError
from bilex.io.in_memory import as_float_array
from bilex.settings.fields import check_positive
from bilex.text.words import describe_value, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from torch import Tensor

    from bilex.table import EmbeddingTable


class Candidate(NamedTuple):
    """A translation or a similar word, and its score."""

    word: str
    score: float


def nearest_words(
    query: Tensor, rows: Tensor, words: Sequence[str], n: int, *, apart_from: int | None = None
) -> list[Candidate]:
    """The n words with the highest cosine, without that of row `apart_from`.  query: (d,); rows: (m, d), unit rows."""
    from bilex.normalize import unit
    from bilex.search.topk import topk

    best = topk(unit(query[None]), rows, n + (apart_from is not None))
    ranked = zip(best.indices[0].tolist(), best.values[0].tolist(), strict=True)
    return [Candidate(words[row], cosine) for row, cosine in ranked if row != apart_from][:n]


def look_up(table: EmbeddingTable, query: str | ArrayLike) -> tuple[Tensor, int | None]:
    """The vector (d,) of a word and its row, or None if it has none; a vector is returned unchanged."""
    import torch

    if isinstance(query, str):
        vector, row, name = table.vector(query), table.index.get(query), quote(query)
    else:
        vector, row, name = _vector(query, table.dim), None, "the vector given"
    if not (vector.any() and np.isfinite(vector).all()):
        raise TableError(
            f"{name} has only zeros, or numbers that are not finite: no word is near to it; try another one"
        )
    return torch.tensor(vector), row


def asked_for(n: int, topn: int | None) -> int:
    """The number of words to return: n, or topn, its name in gensim."""
    n = n if topn is None else topn
    check_positive(n=n)
    return n


def _vector(query: ArrayLike, dim: int) -> NDArray[np.float32]:
    vector = as_float_array(query)
    if vector.dtype.kind != "f" or vector.shape != (dim,):
        raise TableError(
            f"found {describe_value(query)} of shape {vector.shape}; needed a word, or a vector of {dim} numbers"
        )
    with np.errstate(over="ignore"):  # numbers too large for float32 become infinite, and are refused
        return vector.astype(np.float32)
