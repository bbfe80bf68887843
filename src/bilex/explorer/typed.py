"""What a person has typed as the right translation: one word, or several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bilex.io.dictionary import ASCII_SPACE

if TYPE_CHECKING:
    from collections.abc import Container

SEPARATOR = re.compile(r"([;、，；]|,(?!(?<=\d,)\d))")
"""Commas and semicolons, also those of Chinese and Japanese; a comma between two digits belongs to its number."""
OUTER = f"{ASCII_SPACE}\u3000"
"""Spaces around a word, also that of Chinese and Japanese."""


def translations(text: str, known: Container[str]) -> tuple[str, ...]:
    """The words that a text names, each once; what is a word of the table is never taken apart.

    `vers, chez` are two words, unless the table has `vers, chez`; `a, b; c` are `a, b` and `c` if it has `a, b`.
    """
    parts = SEPARATOR.split(text)  # words at even places, what is between them at odd ones
    found, start = [], 0
    while start < len(parts):
        ends = range(len(parts), start, -2)
        joined = ((end, "".join(parts[start:end]).strip(OUTER)) for end in ends)
        end, word = next(((end, word) for end, word in joined if word in known), (start + 1, parts[start].strip(OUTER)))
        found.append(word)
        start = end + 1
    return tuple(dict.fromkeys(word for word in found if word))
