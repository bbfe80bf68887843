"""Did you mean ...? What a mistyped name or word may have been."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_CANDIDATES = 50_000
"""How many of the most frequent words are considered for a word that is not known."""
MIN_WORD_LENGTH = 4
"""Shorter words are near to too many others."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """' (did you mean ...?)' with the nearest of a few known names, or nothing; letter case does not count."""
    folded = {name.casefold(): name for name in reversed(list(known))}
    close = difflib.get_close_matches(word.casefold(), list(folded), n=1)
    return _question(folded[close[0]] if close else None)


class FrequentWords:
    """The first words of a table, by what is left of each without one of its letters.

    Words that differ by one letter, more, less, another or exchanged with its neighbour, have such a rest in common. So
    a word is compared with a few others instead of all of them, however many there are.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words[:MAX_CANDIDATES]
        folded = [word.lower() for word in self._words]
        self._rows = {word: row for row, word in reversed(list(enumerate(folded)))}
        for row, word in enumerate(folded):
            for rest in _deletions(word):
                self._rows.setdefault(rest, row)

    def suggestion(self, word: str) -> str:
        """' (did you mean ...?)' with the nearest word, or nothing."""
        return _question(self.nearest(word))

    def nearest(self, word: str) -> str | None:
        """The word that one may have meant: the most alike, then the most frequent. Numbers are meant as they are."""
        folded = word.lower()
        if len(folded) < MIN_WORD_LENGTH or any(character.isdigit() for character in folded):
            return None
        near = sorted({self._rows[rest] for rest in (folded, *_deletions(folded)) if rest in self._rows})
        likeness = difflib.SequenceMatcher(b=folded)

        def like(row: int) -> float:
            likeness.set_seq1(self._words[row].lower())
            return likeness.ratio()

        return self._words[max(near, key=like)] if near else None


def _question(meant: str | None) -> str:
    return "" if meant is None else f" (did you mean {meant!r}?)"


def _deletions(word: str) -> list[str]:
    """The word without each of its letters."""
    return [word[:place] + word[place + 1 :] for place in range(len(word))]
