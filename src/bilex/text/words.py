"""Words as callers hand them in, where a string is one word and never its characters, and as they are shown."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

from bilex.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 40
"""Characters of a word that are shown."""


def word_list(words: str | Iterable[str], what: str = "words") -> list[str]:
    """The words in a list; a string is one word."""
    if isinstance(words, str):
        return [words]
    needed = "needed a string, or several such as ['dog', 'cat']"
    try:
        found = list(words)
    except TypeError:
        raise SettingsError(f"{what}: found {described(words)}; {needed}") from None
    for number, word in enumerate(found, start=1):
        if not isinstance(word, str):
            raise SettingsError(f"{what}: number {number} is {described(word)}; {needed}")
    return found


def described(thing: object) -> str:
    """A thing for messages: its type, and its value if that is short."""
    kind = type(thing).__name__
    plain = isinstance(thing, str | bytes | int | float | tuple | list)
    return "None" if thing is None else f"{reprlib.repr(thing)} ({kind})" if plain else f"a value of type {kind}"


def quoted(word: str) -> str:
    """A word in quotation marks, on one line and without control characters."""
    return repr(shortened(word))


def shortened(word: str) -> str:
    """A word, or the beginning of one that is too long to be shown."""
    return word if len(word) <= LONGEST else f"{word[:LONGEST]}..."
