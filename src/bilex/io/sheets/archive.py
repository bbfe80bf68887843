"""The parts of an .xlsx or .ods file, which are XML in a zip archive, unpacked piece by piece under limits.

A strange file may unpack to much more than it holds, or name entities that do. Document types are refused, since no
spreadsheet program writes them, and what is unpacked is counted.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol
from xml.parsers import expat

from bilex.errors import LexiconError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_UNPACKED = 1 << 30
"""Bytes of all parts together that are read. A sheet with a million filled rows takes about half of it."""
MAX_RATIO, SMALL = 300, 1 << 24
"""A part of more than `SMALL` bytes may unpack to this many times its size. Real sheets unpack to 5 to 50 times."""
PIECE = 1 << 16


class Handler(Protocol):
    """Takes the elements of a part. Names have no namespace."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Text, perhaps a piece of it."""


class Archive:
    """The parts of a file by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._reported():
            self._zip = zipfile.ZipFile(path)
        self.names = frozenset(self._zip.namelist())
        self._unpacked = 0

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def parse(self, name: str, handler: Handler) -> None:
        """Hand the elements of a part to the handler."""
        with self._reported(name):
            parser = _parser(handler)
            for piece in self._pieces(name):
                parser.Parse(piece, False)
            parser.Parse(b"", True)

    def error(self, found: str) -> LexiconError:
        """The error that refuses the file."""
        return LexiconError(f"{self.path}: {found}; save it again as .xlsx, .ods or .csv with a spreadsheet program")

    def _pieces(self, name: str) -> Iterator[bytes]:
        info = self._zip.getinfo(name)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.error(f"its part {name!r} is compressed in a way that no spreadsheet uses")
        unpacked = 0
        with self._zip.open(info) as part:
            while piece := part.read(PIECE):
                unpacked += len(piece)
                self._unpacked += len(piece)
                if self._unpacked > MAX_UNPACKED or unpacked > max(SMALL, MAX_RATIO * info.compress_size):
                    raise self.error(f"its part {name!r} unpacks to more than {unpacked / 1e6:,.0f} MB")
                yield piece

    @contextmanager
    def _reported(self, name: str | None = None) -> Iterator[None]:
        part = "the file" if name is None else f"its part {name!r}"
        try:
            yield
        except KeyError:
            raise self.error(f"{part} is missing") from None
        except _DoctypeError:
            raise self.error(f"{part} has a document type, which no spreadsheet has") from None
        except _DAMAGED as error:
            raise self.error(f"{part} is damaged or cut short ({error})") from None
        except (NotImplementedError, RuntimeError):
            raise self.error(f"{part} is encrypted or packed in an unknown way; remove its password") from None
        except OSError as error:
            raise LexiconError(f"{self.path}: cannot be read: {error.strerror or error}") from None


_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, struct.error, expat.ExpatError, ValueError, LookupError)
"""What the libraries raise of a damaged part; LookupError if it names an encoding that does not exist."""


class _DoctypeError(Exception):
    pass


def _parser(handler: Handler) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator="}")
    local: dict[str, str] = {}

    def name_of(name: str) -> str:
        """The name without its namespace, looked up since most elements are of a few names."""
        found = local.get(name)
        if found is None:
            found = local[name] = name.rpartition("}")[2]
        return found

    def start(name: str, attributes: dict[str, str]) -> None:
        handler.start(name_of(name), {name_of(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        handler.end(name_of(name))

    def doctype(*_: object) -> None:
        raise _DoctypeError

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = handler.text
    parser.StartDoctypeDeclHandler = doctype
    return parser
