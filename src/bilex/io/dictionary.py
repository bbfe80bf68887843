"""Dictionary files: lines of a source and a target word, whatever separates them."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bilex.errors import LexiconError, SettingsError
from bilex.storage.files import atomic_write
from bilex.text.words import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

Separator = Literal["auto", "tab", "comma", "space"]
Pairs = tuple[tuple[str, str], ...]
ASCII_SPACE = " \t\n\r\v\f"
MAX_LINE_LENGTH = 1 << 20
"""Characters; with two words, and notes on them, it has far less."""
MUSE_NAME = re.compile(r"[a-z]{2}-[a-z]{2}\.(?:0-5000|5000-6500)\.txt")


@dataclass(frozen=True)
class LexiconReport:
    """What a dictionary file held besides its pairs: numbers of lines, unless said otherwise."""

    separator: str
    lines: int
    pairs: int
    blank: int
    comments: int
    extra_columns: int
    carriage_returns: int
    byte_order_mark: bool


def comment_prefix(path: Path) -> str | None:
    """What a comment begins with in a file of this name: nothing in those of MUSE, where #tag is a word; else #."""
    return None if MUSE_NAME.fullmatch(path.name) else "#"


def read_pairs(path: Path, *, separator: Separator, comment: str | None, encoding: str) -> tuple[Pairs, LexiconReport]:
    """The pairs of a file in order, and what else it held."""
    return _Reader(path, separator, comment).read(decode(path, encoding))


def write_pairs(path: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Write tab separated UTF-8 lines that `read_pairs` gives back as they are."""
    content = "".join(format_line(number, *pair) for number, pair in enumerate(pairs, start=1))
    with atomic_write(path) as temporary:
        temporary.write_bytes(content.encode())


def format_line(number: int, *fields: str) -> str:
    """A line of the tab separated form, from a pair and any further columns."""
    for word in fields:
        if not is_writable(word):
            raise LexiconError(
                f"pair {number}: {word!r} cannot be written; a word holds no tab, line end, outer space or surrogate"
            )
    # The reader takes outer spaces away: one of them keeps a word like #tag from being read as a comment.
    return (" " if fields[0].startswith(("#", "\ufeff")) else "") + "\t".join(fields) + "\n"


def is_writable(word: str) -> bool:
    """Whether a word can be written in the tab separated form and read again as it was."""
    return bool(word) and word == word.strip(ASCII_SPACE) and not _INVALID_IN_LINE.search(word)


def decode(path: Path, encoding: str) -> str:
    """The text of a file, or where it is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LexiconError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LexiconError(
            f"{path}:{line}: found the byte 0x{content[error.start]:02x}, which is not {encoding}; "
            "convert the file to UTF-8, or name its encoding"
        ) from error
    except (LookupError, ValueError) as error:
        raise LexiconError(
            f"{path}: unknown encoding {encoding!r}; use a name Python knows, such as latin-1"
        ) from error


class _Reader:
    """Turns the lines of one file into pairs, or says which line is in the way."""

    def __init__(self, path: Path, separator: Separator, comment: str | None) -> None:
        if separator not in ("auto", *_MATCHES):
            raise SettingsError(f"separator={separator!r}: needed auto, {', '.join(_MATCHES)}")
        self.path, self.separator, self.comment = path, separator, comment

    def read(self, text: str) -> tuple[tuple[tuple[str, str], ...], LexiconReport]:
        body = text.removeprefix("\ufeff").removesuffix("\n")
        lines = body.split("\n") if body else []
        filled = {number: line for number, line in enumerate(lines, start=1) if line.strip(ASCII_SPACE)}
        self._require_lines(filled)
        separator = self._detect(filled) if self.separator == "auto" else self.separator
        data = {number: line for number, line in filled.items() if not self._is_comment(line, separator)}
        columns = [self._fields(number, line, separator) for number, line in data.items()]
        if not columns:
            raise LexiconError(
                f"{self.path}: found no pairs in {len(lines)} lines; needed one source and target per line"
            )
        report = LexiconReport(
            separator=separator,
            lines=len(lines),
            pairs=len(columns),
            blank=len(lines) - len(filled),
            comments=len(filled) - len(data),
            extra_columns=sum(any(fields[2:]) for fields in columns),
            carriage_returns=sum(line.endswith("\r") for line in lines),
            byte_order_mark=text.startswith("\ufeff"),
        )
        return tuple((fields[0], fields[1]) for fields in columns), report

    def _require_lines(self, filled: Mapping[int, str]) -> None:
        """Before a line is taken apart: of megabytes it would take gigabytes."""
        for number, line in filled.items():
            if len(line) > MAX_LINE_LENGTH:
                raise self._error(number, f"a line of {len(line):,} characters, {quote(line)}")

    def _is_comment(self, line: str, separator: str) -> bool:
        if not self.comment or not line.startswith(self.comment):
            return False
        return separator == "space" or not line.startswith(self.comment + _SEPARATOR_CHARACTERS[separator])

    def _detect(self, filled: Mapping[int, str]) -> str:
        """The first separator that fits every line; lines that could be comments have no say if there are others."""
        certain = {n: line for n, line in filled.items() if not (self.comment and line.startswith(self.comment))}
        lines = certain or {n: line for n, line in filled.items() if not self._is_comment(line, "tab")}
        fitting = {name: sum(map(fits, lines.values())) for name, fits in _MATCHES.items()}
        for name, count in fitting.items():
            if count == len(lines) and not (name == "space" and all(map(_COMMA_AND_SPACE.match, lines.values()))):
                return name
        likely = max(fitting, key=lambda name: fitting[name])
        number, line = next((n, line) for n, line in lines.items() if not _MATCHES[likely](line))
        others = f", where other lines are separated by {likely}" if fitting[likely] else ""
        raise self._error(number, f"{line!r}{others}")

    def _fields(self, number: int, line: str, separator: str) -> list[str]:
        try:
            fields = [field.strip(ASCII_SPACE) for field in _SPLITTERS[separator](line.removesuffix("\r"))]
        except csv.Error as error:
            raise self._error(number, f"{line!r}, which is no CSV ({error})") from error
        if len(fields) < 2 or (separator == "space" and len(fields) > 2):
            raise self._error(number, f"{len(fields)} column{'s' * (len(fields) > 1)} in {line!r}")
        if not (fields[0] and fields[1]) or "\r" in fields[0] + fields[1]:
            raise self._error(number, f"an empty word or a bare carriage return in {line!r}")
        return fields

    def _error(self, number: int, found: str) -> LexiconError:
        return LexiconError(
            f"{self.path}:{number}: found {found}; needed a source and a target word, with the same separator in every "
            "line: put a tab between them (words with spaces need tab or comma), or remove the line"
        )


_INVALID_IN_LINE = re.compile("[\t\n\r\ud800-\udfff]")
_SEPARATOR_CHARACTERS = {"tab": "\t", "comma": ","}
_COMMA_AND_SPACE = re.compile(r"[^ \t]*,[ \t]")


def _split_at_spaces(line: str) -> list[str]:
    """At runs of spaces or tabs, and at no other character: a no-break space belongs to its word."""
    return re.split(r"[ \t]+", line.strip(ASCII_SPACE))


def _split_at_commas(line: str) -> list[str]:
    return next(csv.reader([line], strict=True, skipinitialspace=True))


_SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "tab": lambda line: line.split("\t"),
    "space": _split_at_spaces,
    "comma": _split_at_commas,
}
# In the order of detection.
_MATCHES: dict[str, Callable[[str], bool]] = {
    "tab": lambda line: "\t" in line,
    "space": lambda line: len(_split_at_spaces(line)) == 2,
    "comma": lambda line: "," in line,
}
