"""Parse the correct translation that a user typed: one word, or several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bilex.io.dictionary import ASCII_SPACE

if TYPE_CHECKING:
    from collections.abc import Container

SEPARATOR = re.compile(r"([;、，；]|,(?!(?<=\d,)\d))")
"""Commas and semicolons, with those of Chinese and Japanese; a comma between two digits is part of a number."""
OUTER = f"{ASCII_SPACE}\u3000"
"""Spaces around a word, with that of Chinese and Japanese."""


def translations(text: str, known: Container[str]) -> tuple[str, ...]:
    """The words of a text, each once. A word of the table is never split.

    `vers, chez` are two words, unless the table has `vers, chez`; `a, b; c` are `a, b` and `c` if it has `a, b`.
    """
    parts = SEPARATOR.split(text)  # words at even indices, separators at odd ones
    found, start = [], 0
    while start < len(parts):
        ends = range(len(parts), start, -2)
        joined = ((end, "".join(parts[start:end]).strip(OUTER)) for end in ends)
        end, word = next(((end, word) for end, word in joined if word in known), (start + 1, parts[start].strip(OUTER)))
        found.append(word)
        start = end + 1
    return tuple(dict.fromkeys(word for word in found if word))
