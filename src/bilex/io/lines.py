"""Lines of text to words and rows: polars for whole chunks in order, line by line for chunks that are not.

Both ways take numbers through the same parser, so they agree to the last bit; a chunk in which anything is unusual
(width, encoding, missing values, carriage returns) is left to the second, which knows line numbers and kinds of fault.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from bilex.io.report import Fault
from bilex.io.words_and_rows import ParsedRows

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

BOM = b"\xef\xbb\xbf"
NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.IGNORECASE)


def parse_lines(data: bytes, first: int, width: int, encoding: str) -> ParsedRows:
    """Parse whole lines, each ended by a newline; `first` is the number of the first, `encoding` that of the words."""
    return parse_fast(data, first, width, encoding) or parse_line_by_line(data, first, width, encoding)


def parse_fast(data: bytes, first: int, width: int, encoding: str) -> ParsedRows | None:
    """All lines at once, or None when any of them needs a closer look."""
    if b"\r" in data or data.startswith(BOM):  # polars would silently strip them from words
        return None
    if data.count(b" ") != width * data.count(b"\n"):  # of a line without end Polars would make 150 times its bytes
        return None
    try:
        text = data if encoding == "utf-8" else data.decode(encoding).encode()
        frame = read_frame(text, width)
    except ValueError:
        return None
    if frame.height != data.count(b"\n") or any(column.null_count() for column in frame):
        return None
    words = frame.drop_in_place("word").to_list()
    return ParsedRows(words, to_rows(frame), range(first, first + len(words)))


def parse_line_by_line(data: bytes, first: int, width: int, encoding: str) -> ParsedRows:
    """One line after the other; blank lines are passed over, all others become a row or a fault."""
    words, lines, numbers, faults = [], [], [], []
    for line, text in enumerate(data.split(b"\n")[:-1], first):
        if not text.strip(b" "):
            continue
        fields = text.rstrip(b" ").rsplit(b" ", width)
        word = parse_word(fields, line, width, encoding)
        if isinstance(word, Fault):
            faults.append(word)
        else:
            words.append(word)
            lines.append(line)
            numbers.append(fields[1:])
    rows, bad = parse_numbers(numbers, width)
    faults += [
        Fault("not_a_number", lines[i], f"{format_field(field)} in the vector of {words[i]!r}")
        for i, field in bad.items()
    ]
    good = [i for i in range(len(words)) if i not in bad]
    return ParsedRows([words[i] for i in good], rows[good], [lines[i] for i in good], faults)


def parse_word(fields: list[bytes], line: int, width: int, encoding: str) -> str | Fault:
    """The word, if the line has one before its `width` last fields. It may hold spaces, but not end in a number:
    then the line has a number too many, and nobody can say which.
    """
    if len(fields) <= width:
        return Fault("wrong_width", line, f"{len(fields) - 1} numbers, needed {width}")
    word = fields[0].strip(b" ")
    if not word:
        return Fault("empty_word", line, f"{width} numbers and no word before them")
    if excess := trailing_numbers(word.split(b" ")):
        return Fault("wrong_width", line, f"{width + excess} numbers, needed {width}")
    try:
        return word.decode(encoding)
    except UnicodeDecodeError:
        return Fault("undecodable", line, f"{format_field(word)} is not {encoding}")


def parse_numbers(numbers: list[list[bytes]], width: int) -> tuple[NDArray[np.float32], dict[int, bytes]]:
    """Rows (n, d), and for each row that has something else among its numbers the first such field."""
    if not numbers:
        return np.empty((0, width), np.float32), {}
    text = b"".join(b"- %b\n" % b" ".join(row) for row in numbers)
    text = text if text.isascii() else text.decode("ascii", "replace").encode("ascii", "replace")
    frame = read_frame(text, width, lenient=True)
    frame.drop_in_place("word")
    bad: dict[int, bytes] = {}
    for j, column in enumerate(frame):
        if column.null_count():
            for i in column.is_null().arg_true():
                bad.setdefault(i, numbers[i][j])
    return to_rows(frame), bad


def read_frame(text: bytes, width: int, *, lenient: bool = False) -> pl.DataFrame:
    """Column `word` and `width` columns of numbers; ValueError for lines with other fields, null for missing ones."""
    import polars as pl

    schema: dict[str, type[pl.DataType]] = {"word": pl.String} | {str(j): pl.Float32 for j in range(width)}
    try:
        return pl.read_csv(text, has_header=False, separator=" ", quote_char=None, schema=schema, ignore_errors=lenient)
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None


def to_rows(frame: pl.DataFrame) -> NDArray[np.float32]:
    """The columns of numbers as a row-major matrix."""
    rows: NDArray[np.float32] = frame.to_numpy(order="c", writable=True)
    return rows


def trailing_numbers(fields: list[bytes]) -> int:
    """How many of the last fields read as numbers, the first field aside: it belongs to the word in any case."""
    count = 0
    while count + 1 < len(fields) and NUMBER.fullmatch(fields[-1 - count]):
        count += 1
    return count


def format_field(field: bytes) -> str:
    """A field for an error message: short, and readable even when it is not text."""
    text = repr(field[:40])[1:] if not field.isascii() else repr(field[:40].decode())
    return text if len(field) <= 40 else f"{text}..."
