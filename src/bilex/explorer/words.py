"""Words by their beginning, whatever their case and accents."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

LAST = "\U0010ffff"


def fold(text: str) -> str:
    """Without case and accents: `Élan` and `elan` are the same. Letters that are no accents stay, in every script."""
    spread = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in spread if not unicodedata.combining(letter))


class WordIndex:
    """The words of a table, sorted by their folded form, so that a beginning is found by bisection."""

    def __init__(self, words: Sequence[str]) -> None:
        folded = [fold(word) for word in words]
        order = sorted(range(len(words)), key=folded.__getitem__)
        self.folded = folded
        self._sorted = [folded[row] for row in order]
        self._rows = np.array(order, dtype=np.int64)

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
