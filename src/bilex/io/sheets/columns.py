"""Which columns of a sheet are source and target: as named, by their headings, or by what they contain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bilex.errors import LexiconError, SettingsError
from bilex.io.sheets.languages import Heading, understand
from bilex.text.words import quote

if TYPE_CHECKING:
    from bilex.io.sheets.grid import Row

ColumnsLike: TypeAlias = str | Sequence[str | int]
HEADING_ROWS = 10
"""A heading is looked for in so many rows, since titles may stand above it."""
PROFILED_ROWS = 2000
"""Rows whose cells decide what a column contains."""
MIN_ROWS_TO_JUDGE = 20
"""Fewer cells do not tell a column of categories, such as parts of speech, from one of words."""
MIN_ROWS_BELOW = 3
"""Fewer rows do not show that a column has numbers only."""
LONG_TEXT = 5
"""Words in the mean cell of a column of definitions or examples; more than in a list of translations."""
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?|TRUE|FALSE")


class NoPairsError(LexiconError):
    """No row of a sheet has a pair."""


class Layout(NamedTuple):
    """The heading as an index of the rows, and the columns, from 0; `why` says how they were found."""

    heading: int | None
    source: int
    targets: tuple[int, ...]
    why: str


def parse_columns(given: ColumnsLike | None) -> tuple[str | int, ...] | None:
    """Columns as `1,3`, `English,French`, or a sequence of numbers, from 1, or of headings: source, then targets."""
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)
    wanted = tuple(int(part) if isinstance(part, str) and part.isdecimal() else part for part in parts)
    in_range = all(part > 0 if isinstance(part, int) else part for part in wanted)
    if len(wanted) < 2 or len(set(wanted)) < len(wanted) or not in_range:
        raise SettingsError(
            f"`columns`: found {given!r}; needed the source column, then that of the target, as numbers from 1 or as "
            "headings: 1,3 or English,French"
        )
    return wanted


def find_layout(rows: list[Row], wanted: tuple[str | int, ...] | None, *, header: bool | None, name: str) -> Layout:
    """The columns to read. LexiconError says which columns there are if more than two could be meant.

    header: whether the first row is a heading, or None to find out. name: that of the file, which may say languages.
    """
    if wanted is not None:
        return _as_named(rows, wanted, header, name)
    if header is not False:
        for index, row in enumerate(rows[:HEADING_ROWS]):
            found = by_heading(row, name)
            if found is not None:
                return Layout(index, *found, "heading")
    first = _first_wide_row(rows) if header else None
    columns = by_content(rows if first is None else rows[first + 1 :])
    if columns is None:
        kind = NoPairsError if len({column for row in rows for column in row.cells}) < 2 else LexiconError
        raise kind(f"found {_overview(rows)}; {NAME_COLUMNS}")
    if header is None and differs_in_kind(rows):
        first = 0
    return Layout(first, columns[0], (columns[1],), "content")


NAME_COLUMNS = "say which is the source and which the target, for example `columns='1,3'`"


def by_heading(row: Row, name: str) -> tuple[int, tuple[int, ...]] | None:
    """Source and targets by the headings in a row; None if it is not a heading, or does not tell."""
    headings = {column: understand(text) for column, text in row.cells.items()}
    if not _is_credible(headings, row, name):
        return None
    languages: dict[str, list[int]] = {}
    for column, heading in headings.items():
        if heading.language is not None and heading.role != "other":
            languages.setdefault(heading.language, []).append(column)
    if len(languages) > 2:
        raise LexiconError(
            f"row {row.number} is a heading with {len(languages)} languages: "
            f"{', '.join(f'column {column + 1} {quote(text)}' for column, text in sorted(row.cells.items()))}; "
            f"{NAME_COLUMNS}"
        )
    sources = [column for column, heading in headings.items() if heading.role == "source"]
    targets = [column for column, heading in headings.items() if heading.role == "target"]
    if len(languages) == 2:
        first, second = languages.values()
        if set(first) & set(targets) and not set(second) & set(targets):
            first, second = second, first
        sources, targets = first, second
    elif len(languages) == 1:
        (own,) = languages.values()
        sources = sources or [column for column in own if column not in targets]
        targets = targets or [column for column in own if column not in sources]
    return (sources[0], tuple(targets)) if len(sources) == 1 and targets else None


def by_content(rows: list[Row]) -> tuple[int, int] | None:
    """The only two columns of words, or None. Numbers, categories, remarks and long texts are not words."""
    profiles = _profiles(rows[:PROFILED_ROWS])
    words = {column: profile for column, profile in profiles.items() if not profile.numeric()}
    for unwanted in (_Profile.category, _Profile.sparse, _Profile.long):
        kept = {column: profile for column, profile in words.items() if not unwanted(profile)}
        words = kept if len(words) > 2 and len(kept) >= 2 else words
    return (min(words), max(words)) if len(words) == 2 else None


def says_heading(texts: Sequence[str]) -> bool:
    """Whether these could be headings, not words: names of different languages, or of a source and a target."""
    said = [understand(text) for text in texts]
    languages = {heading.language for heading in said if heading.language and heading.role != "other"}
    roles = {heading.role for heading in said} - {None, "other"}
    return len(languages) + len(roles) >= 2 and sum(heading != Heading() for heading in said) >= 2


class _Profile(NamedTuple):
    """Counts of a column: cells with text, numbers among them, different texts, and words in all of them."""

    filled: int
    numbers: int
    distinct: int
    words: int
    most: int
    """Cells with text in the column that has most."""

    def numeric(self) -> bool:
        return self.numbers > self.filled / 2

    def category(self) -> bool:
        return self.filled >= MIN_ROWS_TO_JUDGE and self.distinct <= self.filled / 8

    def sparse(self) -> bool:
        return self.filled < self.most / 2

    def long(self) -> bool:
        return self.words > LONG_TEXT * self.filled


def _profiles(rows: list[Row]) -> dict[int, _Profile]:
    texts: dict[int, list[str]] = {}
    for row in rows:
        for column, text in row.cells.items():
            texts.setdefault(column, []).append(text.strip())
    most = max(map(len, texts.values()), default=0)
    return {column: _profile(cells, most) for column, cells in sorted(texts.items())}


def _profile(cells: list[str], most: int) -> _Profile:
    numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
    return _Profile(len(cells), numbers, len(set(cells)), sum(len(cell.split()) for cell in cells), most)


def _as_named(rows: list[Row], wanted: tuple[str | int, ...], header: bool | None, name: str) -> Layout:
    names = [part for part in wanted if isinstance(part, str)]
    heading = _find_heading(rows, names, header, name)
    columns = []
    for part in wanted:
        found = part - 1 if isinstance(part, int) else _column_named(part, rows, heading)
        columns.append(found)
    last = max((max(row.cells) for row in rows), default=0)
    if max(columns) > last:
        raise LexiconError(f"`columns` names column {max(columns) + 1}, and there are {last + 1}: {_overview(rows)}")
    return Layout(heading, columns[0], tuple(columns[1:]), "named")


def _find_heading(rows: list[Row], names: list[str], header: bool | None, name: str) -> int | None:
    for index, row in enumerate(rows[:HEADING_ROWS]):
        if names:
            if {part.casefold() for part in names} <= {text.strip().casefold() for text in row.cells.values()}:
                return index
        elif header is None and _is_credible({c: understand(t) for c, t in row.cells.items()}, row, name):
            return index
    if names:
        shown = ", ".join(quote(text) for row in rows[:1] for text in row.cells.values())
        raise LexiconError(f"no row has the headings {', '.join(map(quote, names))}; the first has {shown}")
    return _first_wide_row(rows) if header else None


def _column_named(name: str, rows: list[Row], heading: int | None) -> int:
    cells = rows[heading or 0].cells
    return next(column for column, text in cells.items() if text.strip().casefold() == name.casefold())


def _is_credible(headings: dict[int, Heading], row: Row, name: str) -> bool:
    """Whether the row is a heading. Codes of languages in lower case may be words, such as `it` and `es`."""
    if not says_heading(list(row.cells.values())) or row.cells[min(row.cells)].startswith(" "):  # see `format_line`
        return False
    said = [heading for heading in headings.values() if heading != Heading()]
    languages = {heading.language for heading in said if heading.language and heading.role != "other"}
    if any(heading.role in ("source", "target") or (heading.language and not heading.is_code) for heading in said):
        return True
    in_name = languages <= {understand(part).language for part in re.split(r"[\W_]+", name)}
    return in_name or len(said) > len(languages) or min(headings) > 0


def _first_wide_row(rows: list[Row]) -> int | None:
    return next((index for index, row in enumerate(rows) if len(row.cells) > 1), None)


def differs_in_kind(rows: list[Row]) -> bool:
    """Whether the first row is a heading: it has a text above a column of numbers, or nothing above row numbers."""
    if len(rows) <= MIN_ROWS_BELOW or len(rows[0].cells) < 2:
        return False
    profiles = _profiles(rows[1:PROFILED_ROWS])
    numeric = [column for column, profile in profiles.items() if profile.numbers >= 0.95 * profile.filled]
    texts = {column: rows[0].cell(column).strip() for column in numeric}
    return any(text and not _NUMBER.fullmatch(text) for text in texts.values()) or texts.get(0) == ""


def _overview(rows: list[Row]) -> str:
    """The columns with their first texts, for a message."""
    columns = sorted({column for row in rows[:PROFILED_ROWS] for column in row.cells})[:8]
    shown = [
        f"column {column + 1} ({', '.join(quote(row.cell(column)) for row in rows[:50] if row.cell(column))[:60]})"
        for column in columns
    ]
    return f"{len(columns)} column{'s' * (len(columns) != 1)} of text: {', '.join(shown)}" if shown else "no text"
