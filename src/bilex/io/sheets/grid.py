"""A sheet as rows of texts, whatever file it comes from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

MAX_COLUMNS, MAX_ROWS = 1 << 14, 1 << 20
"""Limits of Excel and LibreOffice."""
MAX_CELLS = 1 << 23
"""Filled cells of a sheet that are read."""

MAX_COPIES = 999
"""Copies of a row that are read. More of them say nothing new; a column may be filled down to the last row."""


class Row(NamedTuple):
    """A row with any text: its number in the sheet, from 1, and its filled cells by column, from 0."""

    number: int
    cells: dict[int, str]

    def cell(self, column: int) -> str:
        """The text of a column; empty if there is none."""
        return self.cells.get(column, "")


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Rows with text, and facts about where they come from. Of text `name` is None, of a workbook `separator` is."""

    format: str
    rows: list[Row]
    name: str | None = None
    separator: str | None = None
    encoding: str | None = None
    lines: int = 0
    """Rows from the first to the last, blank ones included."""
    merged: int = 0
    """Empty cells that are part of a merged cell, and were given its text."""
    uncomputed: int = 0
    """Formulas without a stored value."""


class Merge(NamedTuple):
    """A cell that is merged with those below it: its row and column, and the last row."""

    row: int
    column: int
    last_row: int


class SheetFullError(Exception):
    """A sheet has more cells, rows or columns than are read."""


class Cells:
    """Collects the filled cells of a sheet, row after row."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, str]] = {}
        self._count = 0
        self.merges: list[Merge] = []
        self.uncomputed = 0

    def put(self, row: int, column: int, text: str) -> None:
        """Add a cell. Blank ones are left out."""
        if text.strip():
            self._add(row, 1)
            if not 0 <= column < MAX_COLUMNS:
                raise SheetFullError
            self._rows.setdefault(row, {})[column] = text

    def repeat(self, row: int, times: int) -> None:
        """Add copies of a row below it, not more than `MAX_COPIES`."""
        cells = self._rows.get(row)
        for copy in range(row + 1, row + min(times, MAX_COPIES) + 1) if cells else ():
            self._add(copy, len(cells or ()))
            self._rows[copy] = cells or {}

    def sheet(self, format_name: str, name: str) -> Sheet:
        """The sheet. Rows of a merged cell have the text of its first row."""
        merged = self._fill_merged()
        rows = [Row(number, self._rows[number]) for number in sorted(self._rows)]
        lines = rows[-1].number if rows else 0
        return Sheet(format=format_name, rows=rows, name=name, lines=lines, merged=merged, uncomputed=self.uncomputed)

    def _add(self, row: int, count: int) -> None:
        self._count += count
        if not 0 < row <= MAX_ROWS or self._count > MAX_CELLS:
            raise SheetFullError

    def _fill_merged(self) -> int:
        """Fill rows that have other text, and say how many cells were filled."""
        numbers, filled, looked_at = sorted(self._rows), 0, 0
        for merge in self.merges:
            text = self._rows.get(merge.row, {}).get(merge.column)
            below = numbers[bisect_right(numbers, merge.row) : bisect_right(numbers, merge.last_row)] if text else []
            looked_at += len(below)
            if looked_at > MAX_CELLS:  # merged cells do not overlap in a sheet of any program
                raise SheetFullError
            for row in below:
                if text and merge.column not in self._rows[row]:
                    self._rows[row] = {**self._rows[row], merge.column: text}
                    filled += 1
        return filled
