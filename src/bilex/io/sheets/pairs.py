"""The pairs of a sheet, and what was understood of it."""

from __future__ import annotations

import re
from itertools import chain, product
from typing import TYPE_CHECKING, Literal

from bilex.io.dictionary import ASCII_SPACE
from bilex.io.sheets.columns import NoPairsError, find_layout
from bilex.io.sheets.delimited import is_comment
from bilex.io.sheets.translations import SPREADSHEET_ERROR, Translations, take_apart, tidy
from bilex.io.sheets.understanding import Column, Rejects, Understanding
from bilex.text.words import quote

if TYPE_CHECKING:
    from bilex.io.dictionary import Pairs
    from bilex.io.sheets.columns import Layout
    from bilex.io.sheets.grid import Row, Sheet

_BREAKS = re.compile("[\t\r\n]+")
"""What no word of a dictionary can hold."""
CellMode = Literal["auto", "split", "whole"]


def pairs_of(
    sheet: Sheet,
    wanted: tuple[str | int, ...] | None,
    *,
    header: bool | None,
    cells: CellMode,
    comment: str | None,
    name: str,
    others: tuple[str, ...] = (),
) -> tuple[Pairs, Understanding]:
    """The pairs of a sheet in order. name: that of the file; others: names of its other sheets."""
    found = [row for row in sheet.rows if not (sheet.format == "text" and is_comment(row.cell(0), comment))]
    commented = {row.number for row in sheet.rows} - {row.number for row in found}
    layout = find_layout(found, wanted, header=header, name=name)
    reader = _Rows(layout, whole=cells == "whole")
    for row in sheet.rows:
        if row.number in commented:
            reader.rejects.add("comment", row.number, quote(row.cell(0)))
    pairs = tuple(chain.from_iterable(map(reader.pairs, found[layout.heading or 0 :])))
    for row in found[: layout.heading or 0]:
        reader.rejects.add("above", row.number, quote(_first(row)))
    if not pairs:
        reasons = "; ".join(map(str, reader.rejects.all()))
        raise NoPairsError(f"found no pairs in {len(sheet.rows):,} rows: {reasons or 'there is only a heading'}")
    return pairs, _understanding(sheet, found, layout, reader, pairs, others)


class _Rows:
    """Reads row after row, and counts what it does."""

    def __init__(self, layout: Layout, *, whole: bool) -> None:
        self.rejects = Rejects()
        self.signs: dict[str, None] = {}
        self.split = self.remarks = 0
        self._layout, self._whole = layout, whole
        self._heading: dict[int, str] | None = None

    def pairs(self, row: Row) -> list[tuple[str, str]]:
        """The pairs of a row; none for the heading."""
        if self._is_heading(row):
            return []
        texts = [row.cell(self._layout.source), *(row.cell(column) for column in self._layout.targets)]
        shown = quote(next((tidy(text) for text in texts if text.strip()), _first(row)))
        if any(SPREADSHEET_ERROR.fullmatch(text.strip()) for text in texts):
            self.rejects.add("error", row.number, shown)
            return []
        sources, *targets = [self._words(text) for text in texts]
        if not sources or not any(targets):
            self.rejects.add("no_target" if sources else "no_source", row.number, shown)
            return []
        return list(dict.fromkeys(product(sources, chain.from_iterable(targets))))

    def _words(self, text: str) -> tuple[str, ...]:
        if self._whole:
            word = _BREAKS.sub(" ", text.strip(ASCII_SPACE))
            return (word,) if word else ()
        found = take_apart(text) if text else Translations(())
        self.split += len(found.words) > 1
        self.remarks += found.remark
        self.signs |= dict.fromkeys(sorted(found.signs))
        return found.words

    def _is_heading(self, row: Row) -> bool:
        """Whether this is the heading, here or where it is repeated, as on each page."""
        if self._layout.heading is None:
            return False
        if self._heading is None:
            self._heading = row.cells
            return True
        if row.cells == self._heading:
            self.rejects.add("heading", row.number, quote(_first(row)))
        return row.cells == self._heading


def _understanding(
    sheet: Sheet, rows: list[Row], layout: Layout, reader: _Rows, pairs: Pairs, others: tuple[str, ...]
) -> Understanding:
    heading = None if layout.heading is None else rows[layout.heading]

    def column(index: int) -> Column:
        return Column(index + 1, tidy(heading.cell(index)) or None if heading else None)

    used = {layout.source, *layout.targets}
    unread = sorted({index for row in rows[layout.heading or 0 :] for index in row.cells} - used)
    return Understanding(
        format=sheet.format,
        sheet=sheet.name,
        other_sheets=others,
        separator=sheet.separator,
        encoding=sheet.encoding,
        heading_row=None if heading is None else heading.number,
        source=column(layout.source),
        targets=tuple(map(column, layout.targets)),
        unread=tuple(map(column, unread)),
        why=layout.why,
        rows=len(sheet.rows),
        pairs=len(pairs),
        split=reader.split,
        signs=tuple(reader.signs),
        remarks=reader.remarks,
        merged=sheet.merged,
        uncomputed=sheet.uncomputed,
        phrases=sum(" " in source or " " in target for source, target in pairs),
        left_out=reader.rejects.all(),
    )


def _first(row: Row) -> str:
    return row.cells[min(row.cells)].strip()
