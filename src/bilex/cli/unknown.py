"""The message for a word that is not in the table it was looked up in."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from bilex.retrieval.sides import from_to, reverse
from bilex.text.suggest import FrequentWords

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.alignment import Alignment
    from bilex.retrieval.sides import Direction
    from bilex.table import EmbeddingTable


def about_unknown(word: str, alignment: Alignment, direction: Direction, *, turn: str | None = None) -> str:
    """Say that the word is not in the table, and what may help: another spelling, the other direction, a similar word.

    `turn`: how to translate in the other direction.
    """
    (table, other), name = alignment.tables.along(direction), from_to(direction).target
    hints = [f"{spelling!r} is{note}" for spelling, note in _spellings(word) if spelling != word and spelling in table]
    hints = hints[:1]
    if word in other:
        hints.append(f"the {name} table has it: {turn or f'--direction {reverse(direction)}'}")
    near = "" if hints else _frequent(table).suggestion(word)
    return "; ".join([f"{word}: not in the table of {len(table):,} words{near}", *hints])


def _spellings(word: str) -> Iterator[tuple[str, str]]:
    """Other spellings, each with a note: other letter case, and the other Unicode form of letters with accents."""
    yield from ((spelling, "") for spelling in (word.lower(), word.capitalize(), word.upper()))
    for form in ("NFC", "NFD"):
        yield unicodedata.normalize(form, word), f", the same letters in the Unicode form {form}"


@lru_cache(maxsize=2)
def _frequent(table: EmbeddingTable) -> FrequentWords:
    return FrequentWords(table.words)
