"""Read a dictionary from a file of any kind: plain pairs of words, delimited text, or a workbook."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bilex.errors import LexiconError, SettingsError
from bilex.io.dictionary import LEXICON_HEADING, MUSE_NAME, LexiconReport, PlainReader, comment_prefix
from bilex.io.encoding import decode, read_bytes, telling_word
from bilex.io.sheets.columns import (
    HEADING_ROWS,
    ColumnsLike,
    NoPairsError,
    by_content,
    by_heading,
    differs_in_kind,
    parse_columns,
)
from bilex.io.sheets.delimited import head_rows, read_delimited
from bilex.io.sheets.pairs import CellMode, pairs_of
from bilex.io.sheets.review_sheet import columns_of
from bilex.io.sheets.translations import take_apart
from bilex.text.words import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.io.dictionary import Pairs, Separator
    from bilex.io.sheets.grid import Sheet
    from bilex.io.sheets.ods import Spreadsheet
    from bilex.io.sheets.xlsx import Workbook

MIN_LIST_SHARE = 0.01
"""A plain file is doubted if more words than this share of its pairs look like lists."""
REVIEW_DOUBT = "the decisions in this sheet are not applied; import them with bilex explore"
ZIP_MAGIC = b"PK\x03\x04"
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BARE_RETURN = re.compile(r"\r(?!\n)")
_MAY_BE_LIST = re.compile(r"[,;/|(\[、，；；]")


@dataclass(frozen=True, kw_only=True)
class DictionaryFormat:
    """How to read a dictionary, where it should not be found out."""

    separator: Separator = "auto"
    comment: str | None = "auto"
    encoding: str = "auto"
    columns: ColumnsLike | None = None
    sheet: str | int | None = None
    header: bool | None = None
    cells: CellMode = "auto"

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("separator", self.separator, ("auto", "tab", "semicolon", "comma", "space")),
            ("cells", self.cells, ("auto", "split", "whole")),
        ):
            if value not in allowed:
                raise SettingsError(f"{name}={value!r}: needed {', '.join(allowed)}")

    def may_be_plain(self, text: str) -> bool:
        """Whether nothing says that a text is a sheet: no option, and no semicolon in every line."""
        if self.columns is not None or self.header or self.cells == "split" or self.separator == "semicolon":
            return False
        lines = [line for line in text.split("\n") if line.strip()]
        return self.separator != "auto" or "\t" in text or not all(";" in line for line in lines) or not lines


def read_dictionary(path: Path, given: DictionaryFormat) -> tuple[Pairs, LexiconReport]:
    """The pairs of a file in order, and a report that says how it was understood."""
    content = _content(path)
    if not content.startswith(ZIP_MAGIC):
        if given.sheet is not None:
            raise LexiconError(f"{path}: this is text, which has no sheets; leave out `sheet`")
        return _read_text(path, content, given)
    problem: LexiconError | None = None
    with _opened(path) as book:
        for name in _sheet_names(path, book, given.sheet):
            try:
                return _read_sheet(path, book.read(name), given, tuple(other for other in book.names if other != name))
            except LexiconError as error:
                problem = problem or error
    raise problem or LexiconError(f"{path}: this workbook has no sheets; check that it is the file you meant")


def read_sheets(path: Path) -> Iterator[Sheet]:
    """All sheets of a workbook, or a text as the only one."""
    content = _content(path)
    if content.startswith(ZIP_MAGIC):
        with _opened(path) as book:
            yield from map(book.read, book.names)
        return
    text, encoding = decode(path, content, "auto")
    sheet = read_delimited(path, text, separator="auto", encoding=encoding, comment=None)
    if sheet is None:
        raise _no_separator(path)
    yield sheet


def _content(path: Path) -> bytes:
    content = read_bytes(path)
    if content.startswith(OLE_MAGIC):
        raise LexiconError(
            f"{path}: this is a workbook of the old kind (.xls), or one with a password; save it as .xlsx or .csv "
            "without a password"
        )
    return content


@contextmanager
def _opened(path: Path) -> Iterator[Workbook | Spreadsheet]:
    from bilex.io.sheets.archive import Archive
    from bilex.io.sheets.ods import CONTENT, Spreadsheet
    from bilex.io.sheets.xlsx import Workbook

    with closing(Archive(path)) as archive:
        if CONTENT in archive.names:
            yield Spreadsheet(archive)
        elif any(name.startswith("xl/") for name in archive.names):
            yield Workbook(archive)
        else:
            inside = ", ".join(sorted(archive.names)[:3])
            raise archive.error(f"a zip archive of {inside}, which is neither .xlsx nor .ods")


def _sheet_names(path: Path, book: Workbook | Spreadsheet, wanted: str | int | None) -> list[str]:
    if wanted is None:
        return book.names
    if wanted in book.names:
        return [str(wanted)]
    if str(wanted).isdecimal() and 0 < int(wanted) <= len(book.names):
        return [book.names[int(wanted) - 1]]
    raise LexiconError(
        f"{path}: there is no sheet {wanted!r}; `sheet` can be {', '.join(map(repr, book.names))}, or a number from 1"
    )


def _read_sheet(
    path: Path, sheet: Sheet, given: DictionaryFormat, others: tuple[str, ...] = ()
) -> tuple[Pairs, LexiconReport]:
    comment = comment_prefix(path) if given.comment == "auto" else given.comment
    is_review = any(columns_of(row) for row in sheet.rows[:HEADING_ROWS])
    place = str(path) if sheet.name is None else f"{path}: sheet {sheet.name!r}"
    try:
        pairs, understood = pairs_of(
            sheet,
            parse_columns(given.columns),
            header=given.header,
            cells="whole" if is_review and given.cells == "auto" else given.cells,
            comment=comment,
            name=path.stem,
            others=others,
        )
    except LexiconError as error:
        raise type(error)(f"{place}: {error}") from None
    comments = sum(left.count for left in understood.left_out if left.reason == "comment")
    return pairs, LexiconReport(
        separator=sheet.separator or "",
        lines=sheet.lines,
        pairs=len(pairs),
        blank=sheet.lines - len(sheet.rows),
        comments=comments,
        extra_columns=0,
        carriage_returns=0,
        byte_order_mark=False,
        encoding=sheet.encoding,
        doubts=(REVIEW_DOUBT,) if is_review else (),
        understood=understood,
    )


def _read_text(path: Path, content: bytes, given: DictionaryFormat) -> tuple[Pairs, LexiconReport]:
    text, encoding = decode(path, content, given.encoding)
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")  # lines of old Macintosh programs
    comment = comment_prefix(path) if given.comment == "auto" else given.comment
    pairs, report = _plain_or_sheet(path, text, encoding, comment, given)
    return pairs, replace(
        report,
        carriage_returns=text.count("\r\n"),
        byte_order_mark=text.startswith("\ufeff"),
        encoding=encoding,
        doubts=(*_encoding_doubts(text, encoding, given), *report.doubts),
    )


def _encoding_doubts(text: str, encoding: str, given: DictionaryFormat) -> Iterator[str]:
    if given.encoding == "auto" and encoding != "utf-8":
        shown = f", with words such as {word}" if (word := telling_word(text, encoding)) else ""
        yield f"read as {encoding}{shown}; if they are wrong, name another encoding with `encoding`"


def _plain_or_sheet(
    path: Path, text: str, encoding: str, comment: str | None, given: DictionaryFormat
) -> tuple[Pairs, LexiconReport]:
    """The pairs of a plain file if it may be one. If it is none, its error is also that of a sheet without pairs."""
    problem: LexiconError | None = None
    if given.may_be_plain(text):
        try:
            pairs, report = PlainReader(path, given.separator, comment).read(text)
        except LexiconError as error:
            if _BARE_RETURN.search(text):
                raise
            problem = error
        else:
            if given.header is False or not _is_sheet(path, text, report, comment):
                return pairs, replace(report, doubts=tuple(_doubts(text, pairs, report, given)))
    separator = "auto" if given.separator == "space" else given.separator
    sheet = read_delimited(path, text, separator=separator, encoding=encoding, comment=comment)
    if sheet is None:
        raise problem or _no_separator(path)
    try:
        return _read_sheet(path, sheet, given)
    except NoPairsError as error:
        raise problem or error from None


def _is_sheet(path: Path, text: str, report: LexiconReport, comment: str | None) -> bool:
    """Whether a text whose lines are all pairs has a heading, or its words in other columns than the first two."""
    if report.separator == "space" or MUSE_NAME.fullmatch(path.name) or text.startswith(LEXICON_HEADING):
        return False
    rows = head_rows(text, report.separator, comment)
    try:
        if rows and by_heading(rows[0], path.stem) is not None:
            return True
    except LexiconError:  # a heading with three languages
        return True
    return report.extra_columns > 0 and (differs_in_kind(rows) or by_content(rows) not in (None, (0, 1)))


def _doubts(text: str, pairs: Pairs, report: LexiconReport, given: DictionaryFormat) -> Iterator[str]:
    """What may be wrong with the pairs of a plain file."""
    if report.extra_columns and not text.startswith(LEXICON_HEADING):
        lines = f"{report.extra_columns:,} line{'s' * (report.extra_columns > 1)}"
        yield f"columns after the second were not read ({lines}); to read others, name them with `columns`"
    if report.separator == "space" or given.cells == "whole":
        return
    lists = [word for pair in pairs for word in pair if _MAY_BE_LIST.search(word) and take_apart(word).words != (word,)]
    if len(lists) > MIN_LIST_SHARE * len(pairs):
        yield (
            f"{len(lists):,} of the words may be lists or have remarks, such as {quote(lists[0])}; they were read as "
            "they are, `cells='split'` takes them apart"
        )


def _no_separator(path: Path) -> LexiconError:
    return LexiconError(
        f"{path}: found no separator that all rows have; needed a tab, a semicolon or a comma between the cells: name "
        "it with `separator`"
    )
