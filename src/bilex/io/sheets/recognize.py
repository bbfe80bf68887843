"""Whether a file is a dictionary or a table of word vectors, by its first bytes."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from bilex.io.encoding import detect
from bilex.io.lines import NUMBER
from bilex.io.sheets.ods import CONTENT
from bilex.io.sheets.read import OLE_MAGIC, ZIP_MAGIC

if TYPE_CHECKING:
    from pathlib import Path

HEAD_BYTES = 1 << 16
MIN_NUMBERS = 2
"""A line of a table has a vector of at least so many numbers, unless it is of no use."""


def is_dictionary(path: Path) -> bool:
    """Whether a file is a workbook, or a text whose lines mostly do not end in numbers. False if it cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    if head.startswith(ZIP_MAGIC):
        return _is_workbook(path)
    if head.startswith(OLE_MAGIC):
        return True
    encoding = detect(head[: head.rfind(b"\n") + 1] or head)
    if encoding is not None and encoding.startswith("utf-16"):
        return True
    return b"\0" not in head and _has_words(head)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return False
    return CONTENT in names or any(name.startswith("xl/") for name in names)


def _has_words(head: bytes) -> bool:
    """Whether most of the lines have several fields that are not numbers, as far as they are whole."""
    lines = [line for line in head.splitlines()[: 100 if b"\n" in head else 1] if line.strip()]
    return sum(map(_is_pair, lines)) * 2 > len(lines)


def _is_pair(line: bytes) -> bool:
    """Whether a line has a separator, and no vector at its end."""
    fields = line.split()
    ending = fields[-MIN_NUMBERS:]
    is_vector = len(fields) > MIN_NUMBERS and all(NUMBER.fullmatch(field) for field in ending)
    return any(sign in line for sign in (b" ", b"\t", b",", b";")) and not is_vector
