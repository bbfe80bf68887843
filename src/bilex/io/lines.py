"""Parse lines of text to words and rows: regular chunks at once with polars, all other chunks line by line.

Both ways use the same number parser, so they agree to the last bit. A chunk with anything unusual (width, encoding,
missing values, carriage returns) is parsed line by line, which reports line numbers and kinds of faults.
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
    """Parse complete lines, each ending in a newline. first: number of the first line; encoding: of the words."""
    return parse_fast(data, first, width, encoding) or parse_line_by_line(data, first, width, encoding)


def parse_fast(data: bytes, first: int, width: int, encoding: str) -> ParsedRows | None:
    """Parse all lines at once, or return None if any line is irregular."""
    if b"\r" in data or data.startswith(BOM):  # polars would silently strip them from words
        return None
    if data.count(b" ") != width * data.count(b"\n"):  # a huge line would take 150 times its size in polars
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
    """Parse one line at a time. Blank lines are skipped; every other line becomes a row or a fault."""
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
    """The word of a line, or a fault. The word is everything before the last `width` fields.

    It may contain spaces, but must not end in a number: such a line has more numbers than needed.
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
    """Rows (n, d), and the first field that is not a number, by index of its row."""
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
    """Column `word` and `width` columns of numbers. ValueError for invalid or extra fields, null for missing ones.

    lenient: null for invalid fields, too.
    """
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
    """How many fields at the end are numbers. The first field is not counted, since it is always part of the word."""
    count = 0
    while count + 1 < len(fields) and NUMBER.fullmatch(fields[-1 - count]):
        count += 1
    return count


def format_field(field: bytes) -> str:
    """A field for an error message: shortened, and readable even if it is not text."""
    text = repr(field[:40])[1:] if not field.isascii() else repr(field[:40].decode())
    return text if len(field) <= 40 else f"{text}..."
