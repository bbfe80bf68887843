"""Suggestions for mistyped names and words: "did you mean ...?"."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_CANDIDATES = 50_000
"""Only this many of the most frequent words are suggested."""
MIN_WORD_LENGTH = 4
"""Shorter words are similar to too many others."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """' (did you mean ...?)' with the most similar known name, or ''. Letter case is ignored."""
    folded = {name.casefold(): name for name in reversed(list(known))}
    close = difflib.get_close_matches(word.casefold(), list(folded), n=1)
    return _question(folded[close[0]] if close else None)


class FrequentWords:
    """The first words of a table, indexed by their deletions (the word without one of its letters).

    Two words that differ by one insertion, deletion, substitution or transposition share a deletion. So a word is
    compared with a few candidates only, however large the table is.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words[:MAX_CANDIDATES]
        folded = [word.lower() for word in self._words]
        self._rows = {word: row for row, word in reversed(list(enumerate(folded)))}
        for row, word in enumerate(folded):
            for deletion in _deletions(word):
                self._rows.setdefault(deletion, row)

    def suggestion(self, word: str) -> str:
        """' (did you mean ...?)' with the most similar word, or ''."""
        return _question(self.nearest(word))

    def nearest(self, word: str) -> str | None:
        """The most similar word; of equally similar ones the most frequent. None for words with digits."""
        folded = word.lower()
        if len(folded) < MIN_WORD_LENGTH or any(character.isdigit() for character in folded):
            return None
        candidates = sorted({self._rows[key] for key in (folded, *_deletions(folded)) if key in self._rows})
        matcher = difflib.SequenceMatcher(b=folded)

        def similarity(row: int) -> float:
            matcher.set_seq1(self._words[row].lower())
            return matcher.ratio()

        return self._words[max(candidates, key=similarity)] if candidates else None


def _question(word: str | None) -> str:
    return "" if word is None else f" (did you mean {word!r}?)"


def _deletions(word: str) -> list[str]:
    """The word without each of its letters."""
    return [word[:i] + word[i + 1 :] for i in range(len(word))]
