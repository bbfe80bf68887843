"""Word vectors and dictionaries from objects in memory: gensim models, arrays, dicts, pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from bilex.errors import LexiconError, TableError
from bilex.io.dictionary import ASCII_SPACE
from bilex.text.words import describe_value, word_list

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from bilex.entry import Entry
    from bilex.io.contents import Contents
    from bilex.lexicon import Lexicon
    from bilex.table import EmbeddingTable

    class KeyedVectors(Protocol):
        """gensim's class of word vectors."""

        index_to_key: list[str]
        vectors: NDArray[Any]

    class Model(Protocol):
        """A trained gensim model."""

        wv: KeyedVectors

    TableLike: TypeAlias = (
        EmbeddingTable
        | str
        | PathLike[str]
        | KeyedVectors
        | Model
        | tuple[Iterable[str], ArrayLike]
        | Mapping[str, ArrayLike]
    )
    PairsLike: TypeAlias = Mapping[str, str | Iterable[str]] | Iterable[tuple[str, str] | Entry]
    LexiconLike: TypeAlias = Lexicon | str | PathLike[str] | PairsLike

ACCEPTED_TABLES = (
    "an EmbeddingTable, the path of a file, KeyedVectors or a model of gensim, (words, rows), or a dict of words and "
    "their vectors"
)
ACCEPTED_PAIRS = "pairs such as [('dog', 'chien'), ...], or a dict such as {'dog': 'chien', 'cat': ['chat', 'chatte']}"


def table_contents(given: Any) -> Contents:
    """Contents from gensim KeyedVectors or a gensim model, from (words, rows), or from a dict of words and vectors.

    Unusable rows are left out and counted, as for a file.
    """
    if is_gensim(given):
        from bilex.io.keyed import from_keyed

        return from_keyed(given)
    if isinstance(given, Mapping):
        given = list(given), list(given.values())
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TableError(f"found {describe_value(given)}; needed {ACCEPTED_TABLES}")
    from bilex.io.arrays import check_counts, contents_from_arrays

    name, words, rows = (
        Path("the vectors given"),
        word_list(given[0], "the words of the table"),
        as_float_array(given[1]),
    )
    if rows.ndim:
        check_counts(name, len(words), len(rows))
    return contents_from_arrays(name, "memory", words, rows, None, strict=False)


def as_float_array(numbers: ArrayLike) -> NDArray[Any]:
    """The numbers as an array, also from a tensor on any device. Integers become float32."""
    try:
        array = np.asarray(numbers.detach().cpu().float() if hasattr(numbers, "detach") else numbers)
    except (TypeError, ValueError) as error:
        raise TableError(f"found {describe_value(numbers)}; needed numbers ({error})") from None
    return array.astype(np.float32) if array.dtype.kind in "iu" else array


def is_gensim(given: object) -> bool:
    """Whether this is a gensim KeyedVectors object, or a model that has one."""
    keyed = getattr(given, "wv", given)
    return hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors")


def word_pairs(given: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of words from pairs, or from a dict of words and their translations."""
    found = (
        _pairs_from_dict(given) if isinstance(given, Mapping) else given.tolist() if hasattr(given, "tolist") else given
    )
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise LexiconError(f"found {describe_value(given)}; needed {ACCEPTED_PAIRS}; a file is read by Lexicon.read")
    return tuple(_pair(number, pair) for number, pair in enumerate(found, start=1))


def _pairs_from_dict(given: Mapping[str, str | Iterable[str]]) -> Iterator[tuple[str, str]]:
    for source, targets in given.items():
        for target in word_list(targets, f"the translations of {source!r}"):
            yield source, target


def _pair(number: int, pair: Any) -> tuple[str, str]:
    """One pair of words, also from an entry of an induced lexicon."""
    if getattr(pair, "_fields", ())[:2] == ("source", "target"):
        pair = pair[:2]
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
        raise LexiconError(
            f"pair {number}: found {describe_value(pair)}; needed two words; a dictionary is {ACCEPTED_PAIRS}"
        )
    if not all(word.strip(ASCII_SPACE) for word in pair):
        raise LexiconError(f"pair {number}: found an empty word in {pair!r}, needed a source and a target")
    return pair[0], pair[1]
