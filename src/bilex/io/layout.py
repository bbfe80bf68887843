"""Layout of a text table: header, width and separator, detected from the first lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.contents import Header
from bilex.io.lines import BOM, NUMBER, format_field, trailing_numbers

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE_LINES = 100


@dataclass(frozen=True)
class Layout:
    """Layout of the lines of a file. The first line after the header begins at byte `start`."""

    width: int
    header: Header | None
    start: int
    tabs: bool
    bom: bool


def find_layout(path: Path, data: bytes, header: bool | None) -> Layout:
    """Detect header, width and separator from the first lines of the file."""
    bom = data.startswith(BOM)
    start = len(BOM) if bom else 0
    claim = parse_header(data[start : data.index(b"\n")]) if header is not False else None
    if header and claim is None:
        raise TableError(
            f"{path}, line 1: needed a header 'words dimension'; read it with `format='glove'` if it has none"
        )
    start = data.index(b"\n") + 1 if claim else start
    sample = sample_lines(data, start)
    tabs = uses_tabs(sample)
    sample = [line.replace(b"\t", b" ") for line in sample] if tabs else sample
    return Layout(find_width(path, sample, claim), claim, start, tabs, bom)


def parse_header(line: bytes) -> Header | None:
    """The header if the line consists of two integers, else None."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 20 for field in fields) and int(fields[1]) > 0:
        return Header(int(fields[0]), int(fields[1]))
    return None


def sample_lines(data: bytes, start: int) -> list[bytes]:
    """The first lines that are not blank."""
    lines: list[bytes] = []
    end = len(data)
    while start < end and len(lines) < SAMPLE_LINES:
        stop = data.index(b"\n", start)
        lines.append(data[start:stop].rstrip(b" \t\r"))
        start = stop + 1
    return [line for line in lines if line]


def uses_tabs(sample: list[bytes]) -> bool:
    """Whether a tab separates the word from the numbers in most lines. Otherwise a tab is part of a word."""
    after = [line.partition(b"\t")[2].split() for line in sample]
    return sum(bool(fields) and all(map(NUMBER.fullmatch, fields)) for fields in after) * 2 > len(sample)


def find_width(path: Path, sample: list[bytes], claim: Header | None) -> int:
    """The most common count of numbers per line. It must agree with the header, if there is one."""
    widths = Counter(trailing_numbers(line.split(b" ")) for line in sample)
    if not sample:
        raise TableError(f"{path}: nothing but a header or blank lines; needed a word and its vector on each line")
    width, count = widths.most_common(1)[0]
    if claim and widths[claim.width] and (widths[claim.width] == count or width == 0):
        return claim.width
    if width == 0:
        found = format_field(sample[0])
        raise TableError(
            f"{path}, line {2 if claim else 1}: {found} is not a word with numbers; needed a text table; "
            "check that it is the file you meant"
        )
    if claim:
        raise TableError(
            f"{path}, line 1: the header says {claim.width} numbers for each word, the lines have {width}; "
            "correct the header or download the file again"
        )
    return width
