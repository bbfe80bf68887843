"""How many directions the rows of a table have: where they are few, words cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bilex.errors import TableError
from bilex.io.words_and_rows import MAX_BAD_COUNT, MAX_BAD_SHARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PROJECTION_COUNT = 4
"""Numbers that stand for a direction: two that differ do so in one of these, but for a chance that is nil."""
HASH_MULTIPLIERS = np.random.default_rng(1).integers(1 << 62, size=PROJECTION_COUNT)
DIRECTION_TOLERANCE = 1e-5
"""Directions that are nearer to each other than this are the same: less is left of them once they are centred."""
BLOCK_ROWS, MIN_SQUARED_LENGTH = 1 << 14, 1e-24
MAX_LENGTH_RATIO = 1000.0
"""So many times the median length no row of real vectors has."""


@dataclass(frozen=True)
class Directions:
    """Rows of zeros, rows that have the direction of one before them, and the longest row in median lengths."""

    rows: int
    zero: int
    repeated: int
    all_same: bool
    longest: float
    longest_row: int

    def fatal(self) -> str | None:
        """What makes the table useless, if so."""
        if self.zero == self.rows:
            return f"all {self.rows:,} rows are zero"
        if self.all_same and self.rows > 1:
            zero = f" or are zero ({self.zero:,})" if self.zero else ""
            return f"all {self.rows:,} rows have the same direction{zero}"
        return None

    def doubts(self, words: Sequence[str]) -> list[str]:
        """What may be wrong with the table, each to be read after its name."""
        found = []
        if self.zero + self.repeated > max(MAX_BAD_COUNT, MAX_BAD_SHARE * self.rows):
            found.append(
                f"has {self.repeated:,} rows with the direction of another one, and {self.zero:,} of zeros, among "
                f"{self.rows:,}: these words cannot be told apart"
            )
        if self.longest > MAX_LENGTH_RATIO:
            found.append(
                f"has a row {self.longest:.3g} times as long as the median (row {self.longest_row + 1}, "
                f"{words[self.longest_row]!r}): it may be damaged"
            )
        return found


def find_directions(rows: NDArray[np.float32]) -> Directions:
    """Count the directions of the rows of a table."""
    lengths, numbers = _project(rows)
    there = lengths > 0
    numbers, usable = numbers[there], lengths[there]
    if not len(numbers):
        return Directions(len(rows), len(rows), 0, all_same=False, longest=0.0, longest_row=0)
    rounded = np.rint(numbers / DIRECTION_TOLERANCE).astype(np.int64)
    different = len(np.unique(rounded @ HASH_MULTIPLIERS))  # one number for four, which wraps around
    return Directions(
        rows=len(rows),
        zero=len(rows) - len(numbers),
        repeated=len(numbers) - different,
        all_same=bool((np.ptp(numbers, axis=0) < DIRECTION_TOLERANCE).all()),
        longest=float(lengths.max() / np.median(usable)),
        longest_row=int(lengths.argmax()),
    )


def require_directions(name: str, rows: NDArray[np.float32]) -> None:
    """Refuse a table whose rows have only one direction, or none."""
    if reason := find_directions(rows).fatal():
        raise TableError(
            f"{name}: {reason}; needed vectors that differ from word to word: check how the file was made, and look at "
            "it with `bilex inspect`"
        )


def _project(rows: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lengths (n,), and unit rows on some random directions (n, 4). Numbers that are not finite are no row's."""
    axes = np.random.default_rng(0).normal(size=(rows.shape[1], PROJECTION_COUNT))
    lengths, numbers = np.empty(len(rows)), np.empty((len(rows), PROJECTION_COUNT))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        for start in range(0, len(rows), BLOCK_ROWS):
            block: NDArray[np.floating] = rows[start : start + BLOCK_ROWS]
            squares = np.einsum("ij,ij->i", block, block)
            if not ((squares > MIN_SQUARED_LENGTH) & np.isfinite(squares)).all():
                block = block.astype(np.float64)  # in which no square is too large or too small
                squares = np.einsum("ij,ij->i", block, block)
            lengths[start : start + BLOCK_ROWS] = np.sqrt(squares)
            numbers[start : start + BLOCK_ROWS] = (block @ axes.astype(block.dtype)) / np.sqrt(squares)[:, None]
    lengths[~np.isfinite(lengths)] = 0
    return lengths, numbers
