"""Sheets of an .xlsx workbook (Office Open XML), as Excel, LibreOffice, Google Sheets and libraries write them.

A library would be preferred, but python-calamine aborts the process if a sheet has one cell far away from the others,
and openpyxl is not faster and reads no .ods. Only the texts are needed here.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bilex.io.sheets.grid import Cells, Merge, SheetFullError

if TYPE_CHECKING:
    from bilex.io.sheets.archive import Archive
    from bilex.io.sheets.grid import Sheet

_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_ESCAPE = re.compile(r"_x((?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")
"""A character that XML cannot hold, or an underline that would begin such a code; never half of a character."""


class Workbook:
    """The sheets of an .xlsx file, each read when it is asked for."""

    format = "xlsx"

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        path = next(iter(_related(archive, "", "officeDocument").values()), "xl/workbook.xml")
        sheets = _related(archive, path, "worksheet")
        listed = _SheetList()
        archive.parse(path, listed)
        self._paths = {name: sheets[key] for name, key, _ in listed.found if key in sheets}
        hidden = {name for name, _, hidden in listed.found if hidden}
        self.names = sorted(self._paths, key=hidden.__contains__)  # hidden sheets come last
        self._strings_path = next(iter(_related(archive, path, "sharedStrings").values()), None)
        self._strings: list[str] | None = None

    def read(self, name: str) -> Sheet:
        """The rows of a sheet."""
        if self._strings is None:
            shared = _SharedStrings()
            if self._strings_path in self._archive.names:
                self._archive.parse(self._strings_path, shared)
            self._strings = shared.strings
        handler = _Worksheet(self._strings)
        try:
            self._archive.parse(self._paths[name], handler)
            return handler.cells.sheet(self.format, name)
        except SheetFullError:
            raise self._archive.error(f"sheet {name!r} has too many cells, or cells too far out") from None


def _related(archive: Archive, path: str, kind: str) -> dict[str, str]:
    """Paths of the parts of a kind that a part refers to, by key."""
    folder, name = posixpath.split(path)
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    if relations not in archive.names:
        return {}
    handler = _Relations()
    archive.parse(relations, handler)
    return {
        key: posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
        for key, found, target in handler.found
        if found.endswith(f"/{kind}")
    }


@dataclass
class _Ignoring:
    """Does nothing with elements that a handler does not know."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Text."""


@dataclass
class _Relations(_Ignoring):
    found: list[tuple[str, str, str]] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            self.found.append((attributes.get("Id", ""), attributes.get("Type", ""), attributes.get("Target", "")))


@dataclass
class _SheetList(_Ignoring):
    found: list[tuple[str, str, bool]] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sheet":
            hidden = attributes.get("state", "visible") != "visible"
            self.found.append((attributes.get("name", ""), attributes.get("id", ""), hidden))


class _Text:
    """Collects the text of `t` elements, without phonetic guides (`rPh`)."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._in_text = self._in_guide = False

    def start(self, name: str) -> None:
        if name == "rPh":
            self._in_guide = True
        elif name == "t":
            self._in_text = not self._in_guide

    def end(self, name: str) -> None:
        if name == "rPh":
            self._in_guide = False
        elif name == "t":
            self._in_text = False

    def add(self, text: str) -> None:
        if self._in_text:
            self._pieces.append(text)

    def take(self) -> str:
        text = "".join(self._pieces)
        self._pieces.clear()
        return _unescape(text)


class _SharedStrings:
    def __init__(self) -> None:
        self.strings: list[str] = []
        self._text = _Text()

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002
        self._text.start(name)

    def end(self, name: str) -> None:
        self._text.end(name)
        if name == "si":
            self.strings.append(self._text.take())

    def text(self, text: str) -> None:
        self._text.add(text)


class _Worksheet:
    """Collects the cells. A row or cell without a reference follows the one before it."""

    def __init__(self, strings: list[str]) -> None:
        self.cells = Cells()
        self._strings = strings
        self._row, self._column, self._kind = 0, -1, "n"
        self._value: list[str] = []
        self._in_value = self._formula = False
        self._inline = _Text()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._begin_cell(attributes)
        elif name == "v":
            self._in_value = True
        elif name == "row":
            self._row = int(attributes.get("r", self._row + 1))
            self._column = -1
        elif name == "f":
            self._formula = True
        elif name == "mergeCell":
            self._merge(attributes.get("ref", ""))
        else:
            self._inline.start(name)

    def end(self, name: str) -> None:
        if name == "c":
            self._end_cell()
        elif name == "v":
            self._in_value = False
        else:
            self._inline.end(name)

    def text(self, text: str) -> None:
        if self._in_value:
            self._value.append(text)
        else:
            self._inline.add(text)

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        found = _REFERENCE.fullmatch(attributes.get("r", ""))
        self._column = self._column + 1 if found is None else _column(found[1])
        self._kind, self._formula = attributes.get("t", "n"), False
        self._value.clear()

    def _end_cell(self) -> None:
        value, inline = "".join(self._value), self._inline.take()
        self.cells.uncomputed += self._formula and not value
        if self._kind == "s" and value:
            value = self._shared(int(value))
        elif self._kind == "b":
            value = "TRUE" if value == "1" else "FALSE"
        elif self._kind == "str":
            value = _unescape(value)
        self.cells.put(self._row, self._column, inline or value)

    def _shared(self, index: int) -> str:
        if not 0 <= index < len(self._strings):
            raise ValueError(f"row {self._row} names text {index}, and there are {len(self._strings)}")
        return self._strings[index]

    def _merge(self, reference: str) -> None:
        first, _, last = reference.partition(":")
        start, end = _REFERENCE.fullmatch(first), _REFERENCE.fullmatch(last)
        if start and end:
            self.cells.merges.append(Merge(int(start[2]), _column(start[1]), int(end[2])))


def _column(letters: str) -> int:
    """The column from 0: A is 0, Z is 25, AA is 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text
