"""Display of tables, dictionaries and results: one line in a terminal, a small table in a notebook."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bilex.page.tables import Table

MAX_SHOWN_ROWS = 5
"""Rows that a notebook shows."""


class Displayed:
    """Base class with a one-line `repr`, and an HTML table of a few rows for notebooks."""

    @abstractmethod
    def _line(self) -> str:
        """Description in one line."""

    @abstractmethod
    def _preview(self) -> Table:
        """A table of the first rows."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._line()}>"

    def _repr_html_(self) -> str:
        from bilex.page.markup import escape_html, html_table

        return f"<p>{escape_html(repr(self))}</p>\n{html_table(self._preview())}"


def format_count(number: int, noun: str) -> str:
    """`1 word`, `5,700 words`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def format_list(texts: Sequence[str], number: int, *, most: int = 3) -> str:
    """The first `most` texts. Dots stand for the others."""
    return ", ".join([*texts[:most], *["..."] * (number > most)])


def more_rows_note(number: int, noun: str) -> tuple[str, ...]:
    """A note with the number of rows that are not shown, if there are any."""
    return (f"and {format_count(number - MAX_SHOWN_ROWS, f'more {noun}')}",) if number > MAX_SHOWN_ROWS else ()
