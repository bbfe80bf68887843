"""Take the text of a cell apart: `le, autre / x (remark)` gives le, autre and x."""

from __future__ import annotations

import re
from typing import NamedTuple

BRACKETS = {"(": ")", "[": "]", "{": "}", "（": "）", "［": "］", "【": "】", "〔": "〕"}
_CLOSING = frozenset(BRACKETS.values())
_SIGNS = re.compile(
    r"(?:([;；؛|、，،\n])"
    r"|((?<!\d),|,(?!\d))"  # not that of 1,000
    r"|((?<=\s)/(?=\s)|(?<=[^\W\d_]{2})/(?=[^\W\d_]{2})))\s*"  # not that of km/h and 24/7
)
_SAME = {"；": ";", "؛": ";", "、": ",", "，": ",", "،": ","}
_INVISIBLE = "\u200b\u2060\ufeff\u00ad"
"""Characters without width that are no part of a word at its ends."""
SPREADSHEET_ERROR = re.compile(r"#(?:N/[AD]|[A-ZÀ-Ü0-9/]+[!?])|#NV|Err:\d{3}")
"""What a spreadsheet shows in place of a value."""


class Translations(NamedTuple):
    """The words of a cell, the signs that it was split at, and whether a remark in brackets was left out."""

    words: tuple[str, ...]
    signs: frozenset[str] = frozenset()
    remark: bool = False


def take_apart(cell: str) -> Translations:
    """The words and phrases of a cell, each once. Parts without a letter or digit, such as `-`, are left out."""
    text = without_remarks(cell)
    parts, signs, end = [], set(), 0
    for found in _SIGNS.finditer(text):
        sign = next(filter(None, found.groups()))
        parts.append(text[end : found.start()])
        signs.add(_SAME.get(sign, sign))
        end = found.end()
    words = dict.fromkeys(tidy(part) for part in (*parts, text[end:]))
    words_found = tuple(word for word in words if any(map(str.isalnum, word)))
    return Translations(words_found, frozenset(signs if len(words_found) > 1 else ()), remark=text is not cell)


def tidy(text: str) -> str:
    """The text with single spaces, and nothing invisible at its ends."""
    return " ".join(text.split()).strip(_INVISIBLE).strip()


def without_remarks(text: str) -> str:
    """The text without what stands in brackets; the text itself if there is none, or brackets do not match."""
    outside: list[str] = []
    open_brackets: list[str] = []
    found = False
    for character in text:
        if character in BRACKETS:
            open_brackets.append(BRACKETS[character])
            found = True
        elif character in _CLOSING:
            if not open_brackets or open_brackets.pop() != character:
                return text
        elif not open_brackets:
            outside.append(character)
    return "".join(outside) if found and not open_brackets else text
