"""Words by their beginning, whatever their case and accents."""

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

LAST = "\U0010ffff"


def fold(text: str) -> str:
    """Without case and accents: `Élan` and `elan` are the same. Letters that are no accents stay, in every script."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in spread if not unicodedata.combining(letter))


class WordIndex:
    """The words of a table, sorted by their folded form, so that a beginning is found by bisection."""

    def __init__(self, words: Sequence[str]) -> None:
        folded = [fold(word) for word in words]
        order = sorted(range(len(words)), key=folded.__getitem__)
        self._folded = folded
        self._sorted = [folded[row] for row in order]
        self._rows = np.array(order, dtype=np.int64)

    def containing(self, text: str) -> NDArray[np.bool_]:
        """Of each row, whether its word has that text in it."""
        return self._searched.str.contains(_written(fold(text)), literal=True).to_numpy()

    @cached_property
    def _searched(self) -> pl.Series:
        return pl.Series([_written(word) for word in self._folded], dtype=pl.String)

    def complete(self, beginning: str, n: int) -> list[int]:
        """Rows of the n most frequent words that begin so; the words that are just that come first."""
        key = fold(beginning)
        first, last = bisect_left(self._sorted, key), bisect_left(self._sorted, key + LAST)
        same = bisect_left(self._sorted, key + "\0", first, last)
        exact = self._rows[first:same] if key else self._rows[:0]
        others = self._rows[first + len(exact) : last]
        if len(others) > n:
            others = np.partition(others, n - 1)[:n]
        found: list[int] = np.concatenate([np.sort(exact), np.sort(others)])[:n].tolist()
        return found


def _written(text: str) -> str:
    """With a question mark for what cannot be written as UTF-8."""
    return text.encode(errors="replace").decode()
