"""Tables as values; `markup` writes them in Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EMPTY = "-"


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table."""

    text: str
    bold: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Row:
    """A row; one beside ours, such as published figures, is set apart."""

    entries: tuple[Entry, ...]
    beside: bool = False


@dataclass(frozen=True)
class Table:
    """A table: columns of text first, the others numbers."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    left: int = 1


def row(*entries: Any) -> Row:
    """A row of texts, numbers and entries."""
    return Row(tuple(entry if isinstance(entry, Entry) else Entry(str(entry)) for entry in entries))
