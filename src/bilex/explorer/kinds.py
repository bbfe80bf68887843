"""What the spelling of a word tells: whether it is a word, whether it may be a name, and its script."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MARKUP = re.compile(r"</?\w+/?>")
"""Tokens such as `</s>` and `<unk>`."""
FREQUENT = 5000
"""The most frequent words tell what capitals mean: among rare words most are names in every language."""
MAX_SHARE_OF_NAMES = 0.25
SCRIPTS = {"CJK": "Han", "LATIN": "Latin"}
"""Names of scripts that differ from the first word of the Unicode name of their letters."""


class Kinds:
    """Columns over the words of a table."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    @cached_property
    def nonword(self) -> NDArray[np.bool_]:
        """Mask of tokens that are no words: numbers, punctuation, markup. They have no letter, or are a tag."""
        return self._mask(not is_word(word) for word in self._words)

    @cached_property
    def capitals_mark_names(self) -> bool:
        """Whether few frequent words have a capital letter: 7 % in English, nearly half in German, where nouns do."""
        frequent = np.flatnonzero(~self.nonword)[:FREQUENT]
        return len(frequent) > 0 and float(self._capitalized[frequent].mean()) <= MAX_SHARE_OF_NAMES

    @cached_property
    def names(self) -> NDArray[np.bool_]:
        """Mask of words that are mostly names: those with a capital letter, if capitals mark names."""
        return self._capitalized & self.capitals_mark_names

    @cached_property
    def _capitalized(self) -> NDArray[np.bool_]:
        """Mask of words with a capital first letter that the table does not have in lower case."""
        words = set(self._words)
        return self._mask(word[:1].isupper() and word.lower() not in words for word in self._words)

    @cached_property
    def scripts(self) -> list[str]:
        """The scripts of the words, the most frequent first."""
        present = self._codes[self._codes >= 0]
        return [self._names[code] for code in np.argsort(-np.bincount(present), kind="stable")] if len(present) else []

    def in_script(self, name: str) -> NDArray[np.bool_]:
        """Mask of the words whose first letter is of this script."""
        mask: NDArray[np.bool_] = self._codes == (self._names.index(name) if name in self._names else -2)
        return mask

    @cached_property
    def _codes(self) -> NDArray[np.int16]:
        """For each word, the place of its script in `_names`; -1 if it has no letter."""
        place = {name: code for code, name in enumerate(self._names)} | {"": -1}
        return np.fromiter(map(place.__getitem__, self._of_words), np.int16, len(self._words))

    @cached_property
    def _names(self) -> list[str]:
        return sorted({*self._of_words} - {""})

    @cached_property
    def _of_words(self) -> list[str]:
        return list(map(script_of, self._words))

    def _mask(self, values: Iterator[bool]) -> NDArray[np.bool_]:
        return np.fromiter(values, bool, len(self._words))


def is_word(text: str) -> bool:
    """Whether the text has a letter, and is no tag."""
    return any(map(str.isalpha, text)) and not MARKUP.fullmatch(text)


def script_of(word: str) -> str:
    """The script of the first letter of a word; empty without a letter."""
    return next((_script(letter) for letter in word if letter.isalpha()), "")


@cache
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "Other").split()[0].split("-")[0]
    return SCRIPTS.get(first, first.capitalize())
