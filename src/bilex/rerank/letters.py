"""Words as rows of letter numbers, for computations on many pairs of words at a time."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

MAX_LETTERS = 20
"""Longer words are cut."""
BLOCK = 1024
"""Pairs of words at a time: what is computed of them stays in the cache of the processor."""
SCRIPT_WORDS = 2000
"""Most frequent words of a table by which its script is told."""


class Encoded(NamedTuple):
    """Letter numbers of words, (n, `MAX_LETTERS`), 0 behind the end and for unknown letters; lengths, (n,)."""

    letters: NDArray[np.int32]
    lengths: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> Encoded:
        """Some of the words."""
        return Encoded(self.letters[rows], self.lengths[rows])


class Alphabet:
    """The letters of some words, numbered from 1."""

    def __init__(self, words: Iterable[str]) -> None:
        self.numbers = {letter: i for i, letter in enumerate(sorted({c for word in words for c in word}), 1)}

    def __len__(self) -> int:
        """Letters, and one number for unknown ones."""
        return len(self.numbers) + 1

    def encode(self, words: Sequence[str]) -> Encoded:
        """The words as letter numbers."""
        letters = np.zeros((len(words), MAX_LETTERS), np.int32)
        for row, word in enumerate(words):
            numbers = [self.numbers.get(letter, 0) for letter in word[:MAX_LETTERS]]
            letters[row, : len(numbers)] = numbers
        return Encoded(letters, np.array([min(len(word), MAX_LETTERS) for word in words], np.int64))


@cache
def plain(word: str) -> str:
    """The word in lower case, without accents."""
    if word.isascii():
        return word.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(c))


def blocks_by_length(first: Encoded, second: Encoded) -> Iterator[NDArray[np.int64]]:
    """The pairs of words in blocks of similar lengths, as row numbers: so little time goes into padding."""
    order = np.lexsort((second.lengths, first.lengths))
    yield from (order[start : start + BLOCK] for start in range(0, len(order), BLOCK))


def edit_distance(first: Encoded, second: Encoded) -> NDArray[np.int64]:
    """Levenshtein's distance of the words in the same row: (n,)."""
    distances = np.zeros(len(first.lengths), np.int64)
    for rows in blocks_by_length(first, second):
        distances[rows] = _edit_distance(first.take(rows), second.take(rows))
    return distances


def _edit_distance(first: Encoded, second: Encoded) -> NDArray[np.int64]:
    """d(i, j) = min(d(i−1, j) + 1, d(i, j−1) + 1, d(i−1, j−1) + [aᵢ ≠ bⱼ]), line after line of all pairs."""
    width = int(second.lengths.max(initial=0))
    columns = np.arange(width + 1, dtype=np.int16)
    line = np.tile(columns, (len(first.lengths), 1))
    distances = second.lengths.copy()
    for i in range(1, int(first.lengths.max(initial=0)) + 1):
        changed = first.letters[:, i - 1 : i] != second.letters[:, :width]
        new = np.empty_like(line)
        new[:, 0] = i
        new[:, 1:] = np.minimum(line[:, 1:] + 1, line[:, :-1] + changed)
        line = np.minimum.accumulate(new - columns, axis=1) + columns  # insertions, from left to right
        ends = (first.lengths == i).nonzero()[0]
        distances[ends] = line[ends, second.lengths[ends]]
    return distances


def script(words: Sequence[str]) -> str:
    """The script of most letters of the first words, such as LATIN; empty if there are no letters."""
    counts = Counter(_script(letter) for word in words[:SCRIPT_WORDS] for letter in word if letter.isalpha())
    return counts.most_common(1)[0][0] if counts else ""


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "unknown").split()[0]
