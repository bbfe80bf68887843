"""Words as callers pass them (a string is one word, never its characters), and as messages show them."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

from bilex.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SHOWN_LENGTH = 40
"""Characters of a word that messages show."""


def word_list(words: str | Iterable[str], what: str = "words") -> list[str]:
    """A list of the words. A string is one word."""
    if isinstance(words, str):
        return [words]
    needed = "needed a string, or several such as ['dog', 'cat']"
    try:
        found = list(words)
    except TypeError:
        raise SettingsError(f"{what}: found {describe_value(words)}; {needed}") from None
    for number, word in enumerate(found, start=1):
        if not isinstance(word, str):
            raise SettingsError(f"{what}: number {number} is {describe_value(word)}; {needed}")
    return found


def describe_value(value: object) -> str:
    """A value for messages: its type, and its text (shortened) if it is of a plain type."""
    kind = type(value).__name__
    plain = isinstance(value, str | bytes | int | float | tuple | list)
    return "None" if value is None else f"{reprlib.repr(value)} ({kind})" if plain else f"a value of type {kind}"


def quote(word: str) -> str:
    """A word in quotation marks, on one line and without control characters."""
    return repr(truncate(word))


def truncate(word: str) -> str:
    """The word, or its beginning if it is too long to show."""
    return word if len(word) <= MAX_SHOWN_LENGTH else f"{word[:MAX_SHOWN_LENGTH]}..."
