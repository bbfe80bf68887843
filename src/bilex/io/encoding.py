"""The encoding of a text file: UTF-8, UTF-16, or a Windows code page where the letters look like it."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from bilex.errors import LexiconError
from bilex.io.code_pages import LETTERS, code_page
from bilex.text.words import quote

if TYPE_CHECKING:
    from pathlib import Path

HEAD_BYTES = 1 << 12
SHOWN = 20
"""Characters of a word before and after an accented letter that are shown."""
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks. That of UTF-32 begins with that of UTF-16."""
_ACCENTED = re.compile(r"[^\W\x00-\x7f]")
ACCENTED_LETTERS = 1000
"""Letters that are looked at for a word to show."""
_OTHERS = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1256")


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of text. LexiconError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise LexiconError(f"{path}: cannot be read: {error.strerror}") from error


def decode(path: Path, content: bytes, encoding: str) -> tuple[str, str]:
    """The text of a file, and its encoding, which is found if it is "auto". LexiconError names the line."""
    if encoding == "auto":
        encoding = detect(content) or "utf-8"
        advice = f"convert the file to UTF-8, or name its encoding with `encoding`{_readings(content)}"
    else:
        advice = "convert the file to UTF-8, or name its encoding with `encoding`"
    try:
        return content.decode(encoding), encoding
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LexiconError(
            f"{path}:{line}: found the byte 0x{content[error.start]:02x}, which is not {encoding}; {advice}"
        ) from error
    except (LookupError, ValueError) as error:
        raise LexiconError(
            f"{path}: unknown encoding {encoding!r}; use a name Python knows, such as latin-1"
        ) from error


def detect(content: bytes) -> str | None:
    """The encoding of a text, None if it is UTF-8 or cannot be told."""
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return encoding
    if b"\0" in content[:HEAD_BYTES]:
        return _utf16_without_mark(content[:HEAD_BYTES])
    try:
        content.decode()
    except UnicodeDecodeError:
        return code_page(content)
    return None


def telling_word(text: str, encoding: str) -> str | None:
    """A word that shows how the encoding was understood, with what it would be in another code page; None without one.

    It is the first accented word that differs between the two, else the first accented word.
    """
    other = "cp1252" if encoding == "cp1250" else "cp1250"
    found = [_word_at(text, place) for place in islice(_ACCENTED.finditer(text), ACCENTED_LETTERS)]
    for word in found if encoding in LETTERS else ():
        with suppress(UnicodeError):
            if (misread := word.encode(encoding).decode(other)) != word:
                return f"{quote(word)}, which would be {quote(misread)} in {other}"
    return quote(found[0]) if found else None


def _word_at(text: str, found: re.Match[str]) -> str:
    before, after = text[max(0, found.start() - SHOWN) : found.start()], text[found.start() : found.start() + SHOWN]
    return re.split(r"\W", before)[-1] + re.split(r"\W", after)[0]


def _utf16_without_mark(head: bytes) -> str | None:
    """UTF-16 of text that is mostly ASCII has zeros in every second place."""
    low, high = head[::2].count(0), head[1::2].count(0)
    if max(low, high) < len(head) // 8 or min(low, high) > max(low, high) // 8:
        return None
    return "utf-16-le" if high > low else "utf-16-be"


def _readings(content: bytes) -> str:
    """How the first line that is not ASCII reads in some encodings."""
    line = next((line for line in content.split(b"\n") if not line.isascii()), b"").strip()[:60]
    readings = {encoding: line.decode(encoding, "replace") for encoding in _OTHERS}
    shown = ", ".join(f"{encoding} {quote(text)}" for encoding, text in readings.items() if text.isprintable())
    return f": the first such line is {shown}" if shown else ""
