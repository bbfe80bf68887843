"""Dictionary files: one source and one target word per line, separated by tab, comma or spaces."""

from __future__ import annotations

import csv
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from bilex.errors import LexiconError, SettingsError
from bilex.io.encoding import decode, read_bytes
from bilex.io.sheets.columns import says_heading
from bilex.storage.files import atomic_write
from bilex.text.words import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from bilex.io.sheets.understanding import Understanding

Separator = Literal["auto", "tab", "semicolon", "comma", "space"]
Pairs = tuple[tuple[str, str], ...]
ASCII_SPACE = " \t\n\r\v\f"
MAX_LINE_LENGTH = 1 << 20
"""In characters. A line with two words and notes is far shorter."""
LEXICON_HEADING = "# source\ttarget\t"
"""The beginning of a lexicon that `bilex induce` has written."""
MUSE_NAME = re.compile(r"[a-z]{2}-[a-z]{2}\.(?:0-5000|5000-6500)\.txt")


@dataclass(frozen=True)
class LexiconReport:
    """What was found in a dictionary file. The numbers count lines."""

    separator: str
    lines: int
    pairs: int
    blank: int
    comments: int
    extra_columns: int
    carriage_returns: int
    byte_order_mark: bool
    encoding: str | None = "utf-8"
    doubts: tuple[str, ...] = ()
    """What may be wrong, though all could be read: an encoding that was found out, lists that were not split."""
    understood: Understanding | None = None
    """Of a sheet: what its columns and cells were taken for, and the rows left out."""

    def summary(self) -> list[str]:
        """What a person should know of how the file was understood. Nothing for pairs of words in UTF-8."""
        return [*([] if self.understood is None else self.understood.summary()), *self.doubts]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def comment_prefix(path: Path) -> str | None:
    """The prefix of comment lines in a file of this name: None for files of MUSE, where #tag is a word; else #."""
    return None if MUSE_NAME.fullmatch(path.name) else "#"


def read_pairs(
    path: Path, *, separator: Separator, comment: str | None = "#", encoding: str = "utf-8"
) -> tuple[Pairs, LexiconReport]:
    """The pairs of a file in order, and a report. Every line must be a pair; nothing is found out but the separator."""
    return PlainReader(path, separator, comment).read(decode(path, read_bytes(path), encoding)[0])


def write_pairs(path: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Write tab-separated UTF-8 lines. `read_pairs` reads back the same pairs."""
    content = "".join(format_line(number, *pair) for number, pair in enumerate(pairs, start=1))
    with atomic_write(path) as temporary:
        temporary.write_bytes(content.encode())


def format_line(number: int, *fields: str) -> str:
    """One tab-separated line from a pair and any further columns."""
    for word in fields:
        if not is_writable(word):
            raise LexiconError(
                f"pair {number}: {word!r} cannot be written; a word cannot hold a tab, a line end, a space at its "
                "beginning or end, or a surrogate"
            )
    # The reader strips spaces. So a leading space keeps a word like #tag from being read as a comment, and the words of
    # a first pair, such as "source" and "target", from being read as headings.
    is_marked = fields[0].startswith(("#", "\ufeff")) or (number == 1 and says_heading(fields))
    return (" " if is_marked else "") + "\t".join(fields) + "\n"


def is_writable(word: str) -> bool:
    """Whether a word can be written in a tab-separated line and read back unchanged."""
    return bool(word) and word == word.strip(ASCII_SPACE) and not _INVALID_IN_LINE.search(word)


class PlainReader:
    """Reads a file in which every line is a pair. An error names the line."""

    def __init__(self, path: Path, separator: Separator, comment: str | None) -> None:
        if separator not in ("auto", *_MATCHES):
            raise SettingsError(f"separator={separator!r}: needed auto, {', '.join(_MATCHES)}")
        self.path, self.separator, self.comment = path, separator, comment

    def read(self, text: str) -> tuple[Pairs, LexiconReport]:
        """The pairs of a text in order, and a report."""
        body = text.removeprefix("\ufeff").removesuffix("\n")
        lines = body.split("\n") if body else []
        filled = {number: line for number, line in enumerate(lines, start=1) if line.strip(ASCII_SPACE)}
        require_lines(self.path, text)
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

    def _is_comment(self, line: str, separator: str) -> bool:
        if not self.comment or not line.startswith(self.comment):
            return False
        return separator == "space" or not line.startswith(self.comment + SEPARATOR_CHARACTERS[separator])

    def _detect(self, filled: Mapping[int, str]) -> str:
        """The first separator that fits every line. Lines that may be comments only count if there are no others."""
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
            raise self._error(number, f"{line!r}, which is not valid CSV ({error})") from error
        if len(fields) < 2 or (separator == "space" and len(fields) > 2):
            raise self._error(number, f"{len(fields)} column{'s' * (len(fields) > 1)} in {line!r}")
        if not (fields[0] and fields[1]) or "\r" in fields[0] + fields[1]:
            raise self._error(number, f"an empty word or a bare carriage return in {line!r}")
        return fields

    def _error(self, number: int, found: str) -> LexiconError:
        return _line_error(self.path, number, found)


def require_lines(path: Path, text: str) -> None:
    """Refuse very long lines before they are split, because splitting megabytes would take gigabytes."""
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAX_LINE_LENGTH:
            raise _line_error(path, number, f"a line of {len(line):,} characters, {quote(line)}")


def _line_error(path: Path, number: int, found: str) -> LexiconError:
    return LexiconError(
        f"{path}:{number}: found {found}; needed a source and a target word, with the same separator in every "
        "line: put a tab between them (words with spaces need tab or comma), or remove the line"
    )


_INVALID_IN_LINE = re.compile("[\t\n\r\ud800-\udfff]")
SEPARATOR_CHARACTERS = {"tab": "\t", "semicolon": ";", "comma": ","}
_COMMA_AND_SPACE = re.compile(r"[^ \t]*,[ \t]")


def _split_at_spaces(line: str) -> list[str]:
    """Split at runs of spaces and tabs only. A no-break space is part of a word."""
    return re.split(r"[ \t]+", line.strip(ASCII_SPACE))


def _split_at_commas(line: str) -> list[str]:
    return next(csv.reader([line], strict=True, skipinitialspace=True))


_SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "tab": lambda line: line.split("\t"),
    "space": _split_at_spaces,
    "comma": _split_at_commas,
}
# In order of detection.
_MATCHES: dict[str, Callable[[str], bool]] = {
    "tab": lambda line: "\t" in line,
    "space": lambda line: len(_split_at_spaces(line)) == 2,
    "comma": lambda line: "," in line,
}
