"""Text with a separator between cells, as spreadsheets export it: quoted cells, lines in cells, `sep=;`."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from bilex.errors import LexiconError
from bilex.io.dictionary import ASCII_SPACE, SEPARATOR_CHARACTERS, require_lines
from bilex.io.sheets.columns import HEADING_ROWS, by_heading
from bilex.io.sheets.grid import MAX_COLUMNS, Row, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD_CHARACTERS = 1 << 16
"""So much of a text decides its separator."""
_NAMED_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n')
"""The first line that Excel understands, and some programs write for it."""


def read_delimited(path: Path, text: str, *, separator: str, encoding: str, comment: str | None) -> Sheet | None:
    """The rows of a text; None if no separator fits all rows and there is no heading either."""
    text, skipped, named = _without_separator_line(text.removeprefix("\ufeff"))
    require_lines(path, text)
    candidates = [separator] if separator != "auto" else [named] if named else list(SEPARATOR_CHARACTERS)
    chosen = _choose(path, text, candidates, comment)
    if chosen is None:
        return None
    records = _records(path, text, chosen)
    rows = [
        Row(number + skipped, {column: cell for column, cell in enumerate(cells) if cell.strip()})
        for number, cells in records
    ]
    filled = [row for row in rows if row.cells]
    lines = skipped + text.count("\n") + (not text.endswith("\n"))
    return Sheet(format="text", rows=filled, separator=chosen, encoding=encoding, lines=lines)


def head_rows(text: str, separator: str, comment: str | None) -> list[Row]:
    """The first rows of a text whose lines are all known to be pairs with this separator, without comments."""
    rows = []
    for number, line in enumerate(text[:HEAD_CHARACTERS].removeprefix("\ufeff").split("\n")[:-1] or [text], start=1):
        with suppress(csv.Error):
            cells = next(csv.reader([line.replace("\r", "")], delimiter=SEPARATOR_CHARACTERS[separator]), [])
            filled = {column: cell for column, cell in enumerate(cells) if cell.strip(ASCII_SPACE)}
            if filled and not is_comment(cells[0], comment):
                rows.append(Row(number, filled))
    return rows


def is_comment(first_cell: str, comment: str | None) -> bool:
    """Whether a row that begins with this cell is a comment. The sign alone is a word."""
    return comment is not None and first_cell.startswith(comment) and first_cell.strip() != comment


def _choose(path: Path, text: str, candidates: list[str], comment: str | None) -> str | None:
    """The first separator that fits. If none does, a cell that is not valid with one of them is an error."""
    problem: LexiconError | None = None
    for name in candidates:
        try:
            if _fits(path, text, name, comment):
                return name
        except LexiconError as error:
            problem = problem or error
    if problem is not None:
        raise problem
    return None


def _fits(path: Path, text: str, separator: str, comment: str | None) -> bool:
    """Whether there is a heading, or all rows have two cells."""
    if SEPARATOR_CHARACTERS[separator] not in text:
        return False
    try:
        if any(by_heading(row, path.stem) for row in _first_rows(text, separator)):
            return True
    except LexiconError:  # a heading with more than two languages
        return True
    records = [cells for _, cells in _records(path, text, separator) if any(map(str.strip, cells))]
    return all(len(cells) > 1 or is_comment(cells[0], comment) for cells in records)


def _first_rows(text: str, separator: str) -> list[Row]:
    """The first rows with text, up to a cell that is not valid."""
    rows: list[Row] = []
    with suppress(_CsvError):
        for number, cells in _parse(text, SEPARATOR_CHARACTERS[separator], quoting=csv.QUOTE_MINIMAL):
            filled = {column: cell for column, cell in enumerate(cells) if cell.strip()}
            rows += [Row(number, filled)] if filled else []
            if len(rows) == HEADING_ROWS:
                break
    return rows


def _records(path: Path, text: str, separator: str) -> list[tuple[int, list[str]]]:
    """The rows with the numbers of their first lines. Quotation marks of a tab-separated text may be part of words."""
    delimiter = SEPARATOR_CHARACTERS[separator]
    try:
        records = list(_parse(text, delimiter, quoting=csv.QUOTE_MINIMAL))
        if separator == "tab" and any("\n" in cell and "\t" in cell for _, cells in records for cell in cells):
            records = list(_parse(text, delimiter, quoting=csv.QUOTE_NONE))
    except _CsvError as error:
        if separator != "tab":
            raise LexiconError(
                f"{path}:{error.line}: found a cell that is not valid CSV ({error}); check its quotation marks"
            ) from None
        records = list(_parse(text, delimiter, quoting=csv.QUOTE_NONE))
    if any(len(cells) > MAX_COLUMNS for _, cells in records):
        raise LexiconError(f"{path}: found a row of more than {MAX_COLUMNS:,} cells; check the separator")
    return records


class _CsvError(Exception):
    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def _parse(text: str, delimiter: str, *, quoting: int) -> Iterator[tuple[int, list[str]]]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True, skipinitialspace=delimiter == ",")  # type: ignore[arg-type]
    number = 1
    try:
        for cells in reader:
            yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise _CsvError(str(error), number) from None


def _without_separator_line(text: str) -> tuple[str, int, str | None]:
    """The text without a first line such as `sep=;`, the number of lines removed, and the separator it names."""
    found = _NAMED_SEPARATOR.match(text)
    name = next((n for n, sign in SEPARATOR_CHARACTERS.items() if found and sign == found[1]), None)
    return (text[found.end() :], 1, name) if found and name else (text, 0, None)
