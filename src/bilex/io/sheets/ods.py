"""Sheets of an .ods file (OpenDocument), as LibreOffice and others write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.io.sheets.grid import MAX_COLUMNS, MAX_ROWS, Cells, Merge, SheetFullError

if TYPE_CHECKING:
    from bilex.io.sheets.archive import Archive
    from bilex.io.sheets.grid import Sheet

CONTENT = "content.xml"
_CELLS = frozenset({"table-cell", "covered-table-cell"})
_NOT_OF_THE_CELL = frozenset({"annotation", "shapes", "frame", "custom-shape", "ruby-text", "note", "tracked-changes"})
"""Elements whose text is not that of the cell they stand in: comments, drawings, reading aids."""


class Spreadsheet:
    """The sheets of an .ods file. They are in one part, so that all are read at once."""

    format = "ods"

    def __init__(self, archive: Archive) -> None:
        handler = _Content()
        try:
            archive.parse(CONTENT, handler)
            self._sheets = {name: cells.sheet(self.format, name) for name, cells in handler.tables}
        except SheetFullError:
            raise archive.error("a sheet has too many cells, or cells too far out") from None
        self.names = list(self._sheets)

    def read(self, name: str) -> Sheet:
        """The rows of a sheet."""
        return self._sheets[name]


class _Content:
    """Collects the cells of all tables."""

    def __init__(self) -> None:
        self.tables: list[tuple[str, Cells]] = []
        self._depth = self._ignored = 0
        self._row = self._row_repeats = 0
        self._column = self._span = 0
        self._cell: dict[str, str] | None = None
        self._paragraphs: list[list[str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _NOT_OF_THE_CELL or (name == "table" and (self._depth or self._ignored)):
            self._ignored += 1
        elif self._ignored:
            return
        elif name == "table":
            self.tables.append((attributes.get("name", ""), Cells()))
            self._depth, self._row, self._row_repeats = 1, 0, 1
        elif name == "table-row":
            self._row += self._row_repeats
            self._row_repeats = _count(attributes, "number-rows-repeated", MAX_ROWS)
            self._column, self._span = 0, 1
        elif name in _CELLS:
            self._cell, self._paragraphs = attributes, []
        elif self._cell is not None:
            self._start_text(name)

    def end(self, name: str) -> None:
        if name in _NOT_OF_THE_CELL or (name == "table" and self._ignored):
            self._ignored -= 1
        elif self._ignored:
            return
        elif name == "table":
            self._depth = 0
        elif name == "table-row" and self._row_repeats > 1 and self._row:
            self.tables[-1][1].repeat(self._row, self._row_repeats - 1)
        elif name in _CELLS:
            self._end_cell()

    def text(self, text: str) -> None:
        if self._paragraphs and not self._ignored:
            self._paragraphs[-1].append(text)

    def _start_text(self, name: str) -> None:
        if name == "p":
            self._paragraphs.append([])
        elif self._paragraphs and (space := {"s": " ", "tab": "\t", "line-break": "\n"}.get(name)):
            self._paragraphs[-1].append(space)

    def _end_cell(self) -> None:
        if self._cell is None or not self.tables:
            return
        attributes, cells = self._cell, self.tables[-1][1]
        text = "\n".join("".join(pieces) for pieces in self._paragraphs) or attributes.get("value", "")
        if attributes.get("formula") and not text:
            cells.uncomputed += 1
        repeats = _count(attributes, "number-columns-repeated", MAX_COLUMNS)
        for column in range(self._column, self._column + repeats) if text.strip() else ():
            cells.put(self._row, column, text)
        rows = _count(attributes, "number-rows-spanned", MAX_ROWS)
        if rows > 1:
            cells.merges.append(Merge(self._row, self._column, self._row + rows - 1))
        self._column += repeats
        self._cell, self._paragraphs = None, []


def _count(attributes: dict[str, str], name: str, largest: int) -> int:
    """A number of the file, at least 1. A sheet is often said to go on to its last row or column."""
    return max(1, min(int(attributes.get(name, 1)), largest))
