"""Prefix search for words, without regard to case and accents."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_CHARACTER = "\U0010ffff"


def fold(text: str) -> str:
    """The text without case and accents: `Élan` becomes `elan`. Combining characters are removed in every script."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in spread if not unicodedata.combining(letter))


class WordIndex:
    """The words of a table, sorted by their folded form, so that bisection finds a prefix."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        folded = [fold(word) for word in words]
        order = sorted(range(len(words)), key=folded.__getitem__)
        self._folded = folded
        self._sorted = [folded[row] for row in order]
        self._rows = np.array(order, dtype=np.int64)

    def containing(self, text: str) -> NDArray[np.bool_]:
        """Mask of the words that contain this text."""
        return self._folded_series.str.contains(_encodable(fold(text)), literal=True).to_numpy()

    @cached_property
    def _folded_series(self) -> pl.Series:
        return pl.Series([_encodable(word) for word in self._folded], dtype=pl.String)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The alphabetical place of each word."""
        place = np.empty_like(self._rows)
        place[self._rows] = np.arange(len(place))
        return place

    def complete(self, beginning: str, n: int) -> list[int]:
        """Rows of the n most frequent words with this prefix; exact matches come first."""
        key = fold(beginning)
        first, last = bisect_left(self._sorted, key), bisect_left(self._sorted, key + MAX_CHARACTER)
        same = bisect_left(self._sorted, key + "\0", first, last)
        exact = self._rows[first:same] if key else self._rows[:0]
        others = self._rows[first + len(exact) : last]
        if len(others) > n:
            others = np.partition(others, n - 1)[:n]
        found: list[int] = np.concatenate([np.sort(exact), np.sort(others)])[:n].tolist()
        return found


def _encodable(text: str) -> str:
    """The text with a question mark for each character that UTF-8 cannot encode."""
    return text.encode(errors="replace").decode()
