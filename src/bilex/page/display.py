"""How tables, dictionaries and results show themselves: a line in a terminal, a small table in a notebook."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bilex.page.tables import Table

MAX_SHOWN_ROWS = 5
"""Rows of a table in a notebook."""


class Displayed:
    """Has a line that says what it is, and a table of a few rows that shows it."""

    @abstractmethod
    def _line(self) -> str:
        """What it is, in a line."""

    @abstractmethod
    def _preview(self) -> Table:
        """A part of it."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._line()}>"

    def _repr_html_(self) -> str:
        from bilex.page.markup import escape_html, html_table

        return f"<p>{escape_html(repr(self))}</p>\n{html_table(self._preview())}"


def format_count(number: int, noun: str) -> str:
    """`1 word`, `5,700 words`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def format_list(texts: Sequence[str], number: int, *, most: int = 3) -> str:
    """The first of a number of texts; dots stand for the others."""
    return ", ".join([*texts[:most], *["..."] * (number > most)])


def more_rows_note(number: int, noun: str) -> tuple[str, ...]:
    """A note that tells of the rows that a table does not show, if there are any."""
    return (f"and {format_count(number - MAX_SHOWN_ROWS, f'more {noun}')}",) if number > MAX_SHOWN_ROWS else ()
