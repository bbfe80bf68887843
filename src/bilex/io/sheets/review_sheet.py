"""A sheet that a person has reviewed, saved as any kind of spreadsheet: its rows, with decisions and notes.

Headings say what the columns are, so that they may be moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bilex.io.dictionary import ASCII_SPACE
from bilex.io.sheets.translations import tidy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bilex.io.sheets.grid import Row, Sheet

DECISION = "decision"
NEEDED = ("source", "target", DECISION)
"""Headings that a sheet must have to be read back."""


class ReviewRow(NamedTuple):
    """A row of an edited sheet."""

    number: int
    source: str
    target: str
    decision: str
    note: str


def read_review_sheet(sheet: Sheet) -> list[ReviewRow] | None:
    """The rows with a pair; None if no row has the headings source, target and decision."""
    for index, row in enumerate(sheet.rows):
        columns = columns_of(row)
        if columns is not None:
            return list(_review_rows(sheet.rows[index + 1 :], columns))
    return None


def columns_of(row: Row) -> dict[str, int] | None:
    """The columns by heading, if the row is the heading of such a sheet."""
    columns = {tidy(text).casefold(): column for column, text in row.cells.items()}
    return columns if columns.keys() >= set(NEEDED) else None


def _review_rows(rows: Iterable[Row], columns: Mapping[str, int]) -> Iterable[ReviewRow]:
    for row in rows:
        source, target, decision = (row.cell(columns[name]).strip(ASCII_SPACE) for name in NEEDED)
        note = tidy(row.cell(columns["note"])) if "note" in columns else ""
        if source or target or decision:
            yield ReviewRow(row.number, source, target, decision, note)
