"""What was understood of a sheet, and what was left out and why, to be said to the user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bilex.io.report import MAX_EXAMPLES, Example
from bilex.text.words import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NAMED = 10
"""Columns and sheets that are named, of those that are not read."""
REASONS = {
    "above": "above the heading",
    "comment": "a comment",
    "heading": "the heading again",
    "no_source": "no source word",
    "no_target": "no translation",
    "error": "an error value of the spreadsheet",
}


@dataclass(frozen=True)
class Column:
    """A column by number, from 1, and its heading."""

    number: int
    heading: str | None = None

    def __str__(self) -> str:
        return f"column {self.number}" + (f" {quote(self.heading)}" if self.heading else "")


@dataclass(frozen=True)
class LeftOut:
    """Rows that gave no pair, for one reason: their count and the first examples."""

    reason: str
    count: int
    examples: tuple[Example, ...]

    def __str__(self) -> str:
        shown = ", ".join(f"row {example.line} {example.detail}" for example in self.examples[:3])
        return f"{self.count:,} row{'s' * (self.count != 1)}: {REASONS[self.reason]} ({shown})"


@dataclass
class Rejects:
    """Collects the rows that are left out."""

    found: dict[str, list[Example]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, row: int, detail: str) -> None:
        """Count a row. The first few are kept as examples."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        examples = self.found.setdefault(reason, [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(Example(row, detail))

    def all(self) -> tuple[LeftOut, ...]:
        """All of them, by reason."""
        return tuple(LeftOut(r, self.counts[r], tuple(self.found[r])) for r in REASONS if r in self.counts)


@dataclass(frozen=True, kw_only=True)
class Understanding:
    """How a sheet was read. Rows and columns count from 1."""

    format: str
    sheet: str | None
    other_sheets: tuple[str, ...]
    separator: str | None
    encoding: str | None
    heading_row: int | None
    source: Column
    targets: tuple[Column, ...]
    unread: tuple[Column, ...]
    why: str
    """How the columns were found: named, heading or content."""
    rows: int
    """Rows with text."""
    pairs: int
    split: int
    """Cells with several words."""
    signs: tuple[str, ...]
    """The signs between these words."""
    remarks: int
    """Cells with a remark in brackets, which was left out."""
    merged: int
    uncomputed: int
    phrases: int
    """Pairs with a phrase of several words, which most tables have no vector for."""
    left_out: tuple[LeftOut, ...]

    def columns(self) -> str:
        """The columns and where they go."""
        targets = " and ".join(map(str, self.targets))
        heading = f"row {self.heading_row} is the heading" if self.heading_row else "no heading"
        return f"{heading}; {self.source} -> source, {targets} -> target"

    def cells(self) -> str:
        """What was done with the texts of cells; empty if nothing."""
        signs = " and ".join("line ends" if sign == "\n" else f"'{sign}'" for sign in self.signs)
        return "; ".join(
            text
            for count, text in (
                (self.split, f"{_count(self.split, 'cell')} with several words, split at {signs}"),
                (self.remarks, f"{_count(self.remarks, 'cell')} with remarks in brackets, which were left out"),
                (self.merged, f"{_count(self.merged, 'row')} of merged cells given the text of the first"),
                (self.uncomputed, f"{_count(self.uncomputed, 'formula')} without a stored value"),
            )
            if count
        )

    def summary(self) -> list[str]:
        """A line for all that was understood, and one for all that was left out, if anything."""
        among = f" (not {_first(map(quote, self.other_sheets))})" if self.other_sheets else ""
        place = f"separated by {self.separator}, " if self.sheet is None else f"sheet {self.sheet!r}{among}, "
        lines = [f"{place}{self.columns()}; {_count(self.pairs, 'pair')} in {_count(self.rows, 'row')}"]
        if self.unread:
            lines[0] += f"; not read: {_first(self.unread)}"
        if cells := self.cells():
            lines.append(cells)
        if self.left_out:
            lines.append(f"left out {'; '.join(map(str, self.left_out))}")
        return lines


def _first(names: Iterable[object]) -> str:
    """The first few names, and how many there are besides: a damaged sheet may have thousands of columns."""
    shown = list(map(str, names))
    more = [f"{len(shown) - MAX_NAMED:,} more"] if len(shown) > MAX_NAMED else []
    return ", ".join(shown[:MAX_NAMED] + more)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
