"""Words that a search has found, with their scores."""

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
    """The n words of highest cosine, but for that of row `apart_from`.  query: (d,); rows: (m, d), of length 1."""
    from bilex.normalize import unit
    from bilex.search.topk import topk

    found = topk(unit(query[None]), rows, n + (apart_from is not None))
    listed = zip(found.indices[0].tolist(), found.values[0].tolist(), strict=True)
    return [Candidate(words[row], cosine) for row, cosine in listed if row != apart_from][:n]


def look_up(table: EmbeddingTable, query: str | ArrayLike) -> tuple[Tensor, int | None]:
    """The vector (d,) of a word and its row, if it has one; a vector is taken as it is."""
    import torch

    if isinstance(query, str):
        vector, row, name = table.vector(query), table.index.get(query), quote(query)
    else:
        vector, row, name = _vector(query, table.dim), None, "the vector given"
    if not (vector.any() and np.isfinite(vector).all()):
        raise TableError(
            f"{name} is of zeros only, or not of finite numbers: it has no direction, so that no word is near"
        )
    return torch.tensor(vector), row


def asked_for(n: int, topn: int | None) -> int:
    """How many words are asked for: gensim calls it topn."""
    n = n if topn is None else topn
    check_positive(n=n)
    return n


def _vector(query: ArrayLike, dim: int) -> NDArray[np.float32]:
    vector = as_float_array(query)
    if vector.dtype.kind != "f" or vector.shape != (dim,):
        raise TableError(
            f"found {describe_value(query)} of shape {vector.shape}; needed a word, or a vector of {dim} numbers"
        )
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite, and is refused as such
        return vector.astype(np.float32)
