"""Number of different directions of the rows of a table. Words with the same direction cannot be distinguished."""

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
"""Random projections that identify a direction. Different directions almost surely differ in one of them."""
HASH_MULTIPLIERS = np.random.default_rng(1).integers(1 << 62, size=PROJECTION_COUNT)
DIRECTION_TOLERANCE = 1e-5
"""Directions that differ by less than this count as equal: centering would leave almost nothing of the difference."""
BLOCK_ROWS, MIN_SQUARED_LENGTH = 1 << 14, 1e-24
MAX_LENGTH_RATIO = 1000.0
"""No row of real vectors is this many times longer than the median."""


@dataclass(frozen=True)
class Directions:
    """Counts of zero rows and of rows that repeat an earlier direction, and the longest row in median lengths."""

    rows: int
    zero: int
    repeated: int
    all_same: bool
    longest: float
    longest_row: int

    def fatal(self) -> str | None:
        """Why the table is useless, or None."""
        if self.zero == self.rows:
            return f"all {self.rows:,} rows are zero"
        if self.all_same and self.rows > 1:
            zero = f" or are zero ({self.zero:,})" if self.zero else ""
            return f"all {self.rows:,} rows have the same direction{zero}"
        return None

    def doubts(self, words: Sequence[str]) -> list[str]:
        """Possible problems of the table. Each text continues a sentence that begins with the table's name."""
        found = []
        if self.zero + self.repeated > max(MAX_BAD_COUNT, MAX_BAD_SHARE * self.rows):
            found.append(
                f"has {self.repeated:,} rows with the direction of another one, and {self.zero:,} of zeros, among "
                f"{self.rows:,}: these words cannot be distinguished"
            )
        if self.longest > MAX_LENGTH_RATIO:
            found.append(
                f"has a row {self.longest:.3g} times as long as the median (row {self.longest_row + 1}, "
                f"{words[self.longest_row]!r}): it may be damaged"
            )
        return found


def find_directions(rows: NDArray[np.float32]) -> Directions:
    """Count zero rows and repeated directions in a table."""
    lengths, projections = _project(rows)
    nonzero = lengths > 0
    projections, nonzero_lengths = projections[nonzero], lengths[nonzero]
    if not len(projections):
        return Directions(len(rows), len(rows), 0, all_same=False, longest=0.0, longest_row=0)
    rounded = np.rint(projections / DIRECTION_TOLERANCE).astype(np.int64)
    different = len(np.unique(rounded @ HASH_MULTIPLIERS))  # one hash per row; integer overflow is intended
    return Directions(
        rows=len(rows),
        zero=len(rows) - len(projections),
        repeated=len(projections) - different,
        all_same=bool((np.ptp(projections, axis=0) < DIRECTION_TOLERANCE).all()),
        longest=float(lengths.max() / np.median(nonzero_lengths)),
        longest_row=int(lengths.argmax()),
    )


def require_directions(name: str, rows: NDArray[np.float32]) -> None:
    """Refuse a table whose rows are all zero or all have the same direction."""
    if reason := find_directions(rows).fatal():
        raise TableError(
            f"{name}: {reason}; needed vectors that differ from word to word: check how the file was made, and look at "
            "it with `bilex inspect`"
        )


def _project(rows: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lengths of the rows (n,), and projections of the unit rows on random axes (n, 4). Rows that are not finite get
    length 0.
    """
    axes = np.random.default_rng(0).normal(size=(rows.shape[1], PROJECTION_COUNT))
    lengths, numbers = np.empty(len(rows)), np.empty((len(rows), PROJECTION_COUNT))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        for start in range(0, len(rows), BLOCK_ROWS):
            block: NDArray[np.floating] = rows[start : start + BLOCK_ROWS]
            squares = np.einsum("ij,ij->i", block, block)
            if not ((squares > MIN_SQUARED_LENGTH) & np.isfinite(squares)).all():
                block = block.astype(np.float64)  # no overflow or underflow of squares in float64
                squares = np.einsum("ij,ij->i", block, block)
            lengths[start : start + BLOCK_ROWS] = np.sqrt(squares)
            numbers[start : start + BLOCK_ROWS] = (block @ axes.astype(block.dtype)) / np.sqrt(squares)[:, None]
    lengths[~np.isfinite(lengths)] = 0
    return lengths, numbers
