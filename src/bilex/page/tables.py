"""Tables as data. `markup` writes them as Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EMPTY = "-"


@dataclass(frozen=True)
class Entry:
    """One cell of a table."""

    text: str
    bold: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Row:
    """A row. beside: it holds figures for comparison, such as published ones, and is set in italics."""

    entries: tuple[Entry, ...]
    beside: bool = False


@dataclass(frozen=True)
class Table:
    """A table. The first `left` columns are text, the others are numbers."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    left: int = 1


def row(*entries: Any) -> Row:
    """A row from texts, numbers and entries."""
    return Row(tuple(entry if isinstance(entry, Entry) else Entry(str(entry)) for entry in entries))
