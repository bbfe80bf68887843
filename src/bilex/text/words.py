"""Words as callers hand them in, where a string is one word and never its characters, and as they are shown."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

from bilex.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SHOWN_LENGTH = 40
"""Characters of a word that are shown."""


def word_list(words: str | Iterable[str], what: str = "words") -> list[str]:
    """The words in a list; a string is one word."""
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


def describe_value(thing: object) -> str:
    """A thing for messages: its type, and its value if that is short."""
    kind = type(thing).__name__
    plain = isinstance(thing, str | bytes | int | float | tuple | list)
    return "None" if thing is None else f"{reprlib.repr(thing)} ({kind})" if plain else f"a value of type {kind}"


def quote(word: str) -> str:
    """A word in quotation marks, on one line and without control characters."""
    return repr(truncate(word))


def truncate(word: str) -> str:
    """A word, or the beginning of one that is too long to be shown."""
    return word if len(word) <= MAX_SHOWN_LENGTH else f"{word[:MAX_SHOWN_LENGTH]}..."
