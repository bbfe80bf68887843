"""The sheet of a lexicon for a review, as .xlsx. Needs the extra `sheets`.

    source  target  confidence  alternatives  decision  note  score  rank  origin

A person fills the decisions. Every word is a text, which no spreadsheet computes.
"""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any

from bilex.errors import LexiconError, MissingExtraError
from bilex.io.sheets.grid import MAX_ROWS
from bilex.io.sheets.review_sheet import DECISION
from bilex.io.tmx import INVALID_IN_XML
from bilex.page.markup import FORMULA_STARTS
from bilex.storage.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from bilex.entry import Entry

MAX_CELL_LENGTH = 32_767
"""Limit of Excel, in UTF-16 units; no word is nearly as long."""
BETWEEN_ALTERNATIVES = "; "
WIDTHS = {"source": 24, "target": 24, "alternatives": 48, DECISION: 24, "note": 32}
ADVICE = "accept, reject, or the right translation; several with ; between them"


def write_review_sheet(
    path: Path, entries: Sequence[Entry], alternatives: Mapping[str, Sequence[str]], *, backward: bool = False
) -> None:
    """Write a workbook. alternatives: the best candidates of each word. backward: entries are from target to source."""
    if len(entries) >= MAX_ROWS:
        raise LexiconError(
            f"a sheet holds {MAX_ROWS - 1:,} pairs, found {len(entries):,}; keep fewer translations (`n`)"
        )
    headings = _headings(entries, backward=backward)
    xlsxwriter = _import_xlsxwriter()
    with atomic_write(path) as temporary:
        book = xlsxwriter.Workbook(str(temporary), {"constant_memory": True})
        book.set_properties({"created": datetime.datetime(2000, 1, 1)})
        sheet, text = book.add_worksheet("lexicon"), book.add_format({"num_format": "@"})
        disarmed = book.add_format({"num_format": "@", "quote_prefix": True})
        _format(sheet, headings, len(entries), book.add_format({"bold": True}), text)
        for row, entry in enumerate(entries, start=1):
            for column, value in enumerate(_values(entry, headings, alternatives)):
                if isinstance(value, str):
                    sheet.write_string(row, column, value, disarmed if value[:1] in FORMULA_STARTS and value else text)
                elif not math.isnan(value):
                    sheet.write_number(row, column, value)
        book.close()


def fits_xlsx(entry: Entry) -> bool:
    """Whether both words can be written."""
    return all(len(word) < MAX_CELL_LENGTH // 2 and not INVALID_IN_XML.search(word) for word in entry[:2])


def _headings(entries: Iterable[Entry], *, backward: bool) -> list[str]:
    """The headings say source and target of the run, also if the entries are the other way round."""
    pair = ["target", "source"] if backward else ["source", "target"]
    rated = any(not math.isnan(entry.confidence) for entry in entries)
    return [*pair, *["confidence"] * rated, "alternatives", DECISION, "note", "score", "rank", "origin"]


def _values(entry: Entry, headings: list[str], alternatives: Mapping[str, Sequence[str]]) -> list[str | float]:
    others = [word for word in alternatives.get(entry.source, ()) if word != entry.target]
    values: dict[str, str | float] = {
        "confidence": round(entry.confidence, 4),
        "alternatives": INVALID_IN_XML.sub(" ", BETWEEN_ALTERNATIVES.join(others))[: MAX_CELL_LENGTH // 2],
        DECISION: "",
        "note": "",
        "score": round(entry.score, 6),
        "rank": entry.rank,
        "origin": entry.origin,
    }
    return [entry.source, entry.target, *(values[heading] for heading in headings[2:])]


def _format(sheet: Any, headings: list[str], rows: int, bold: Any, text: Any) -> None:
    """Widths, a heading that stays in view, filters, and a list to choose decisions from, which allows other texts."""
    for column, heading in enumerate(headings):
        is_text = heading in WIDTHS
        sheet.set_column(column, column, WIDTHS.get(heading, 11), text if is_text else None)
        sheet.write_string(0, column, heading, bold)
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, rows, len(headings) - 1)
    column = headings.index(DECISION)
    choice = {"validate": "list", "source": ["accept", "reject"], "show_error": False, "input_message": ADVICE}
    sheet.data_validation(1, column, max(rows, 1), column, choice)


def _import_xlsxwriter() -> Any:
    try:
        import xlsxwriter
    except ImportError:
        raise MissingExtraError("xlsxwriter", "sheets", "writing .xlsx") from None
    return xlsxwriter
