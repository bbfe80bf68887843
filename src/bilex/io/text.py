"""Text tables: lines of `word number number ...`, with a header (word2vec, fastText) or without (GloVe)."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.contents import Contents
from bilex.io.layout import Layout, find_layout
from bilex.io.lines import parse_lines
from bilex.io.size import check_dim
from bilex.io.stream import Stream
from bilex.io.words_and_rows import PARSE_FAULTS, ParsedRows, TableBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.io.report import Fault

CHUNK_BYTES = 2 << 20
MAX_LINE_BYTES = 8 << 20
"""More than a word and MAX_DIM numbers take."""


def read_text(
    path: Path,
    *,
    header: bool | None = None,
    max_words: int | None = None,
    encoding: str = "utf-8",
    strict: bool = False,
) -> Contents:
    """Read a text table. header: whether the first line is a header; None detects it."""
    codec = check_encoding(path, encoding)
    builder = TableBuilder(path, max_words=max_words, strict=strict)
    with Stream(path) as stream:
        chunks = read_chunks(stream)
        first = next(chunks, None)
        if first is None:
            raise TableError(f"{path}: the file is empty; needed a word and its vector on each line; download it again")
        layout = find_layout(path, first.data, header)
        check_dim(path, layout.width)
        for chunk in chain([replace(first, data=first.data[layout.start :])], chunks):
            builder.add(parse_chunk(chunk, layout, codec), stream.progress if not chunk.last else 1.0)
            if builder.full:
                break
    words, rows, report = builder.finish(layout.header.words if layout.header else None)
    name = "vec" if layout.header else "glove"
    return Contents(name, words, rows, report, None, layout.header, layout.bom, stream.compressed)


@dataclass(frozen=True)
class Chunk:
    """Complete lines of a file. cut: whether the last line had no newline (one was added)."""

    data: bytes
    line: int
    last: bool
    cut: bool


def read_chunks(stream: Stream) -> Iterator[Chunk]:
    """The file in chunks of complete lines."""
    rest, line = b"", 1
    while True:
        data = stream.read(CHUNK_BYTES)
        last = len(data) < CHUNK_BYTES
        data = rest + data
        end = len(data) if last else data.rfind(b"\n") + 1
        data, rest = data[:end], data[end:]
        if len(rest) > MAX_LINE_BYTES:
            raise TableError(f"{stream.path}, line {line}: longer than 8 MB; needed text with one word on each line")
        if data:
            cut = not data.endswith(b"\n")
            yield Chunk(data + b"\n" if cut else data, line, last, cut)
            line += data.count(b"\n")
        if last:
            return


def parse_chunk(chunk: Chunk, layout: Layout, codec: str) -> ParsedRows:
    """Normalize line ends and separators, then parse. A fault in a truncated last line is fatal."""
    data = chunk.data.replace(b"\r\n", b"\n") if b"\r" in chunk.data else chunk.data
    data = data.replace(b"\t", b" ") if layout.tabs else data
    first = chunk.line + (1 if layout.header and chunk.line == 1 else 0)
    if data[: data.find(b"\n")].endswith(b" "):  # as fastText writes; other mixtures are parsed line by line
        data = data.replace(b" \n", b"\n")
    parsed = parse_lines(data, first, layout.width, codec)
    if not chunk.cut or not parsed.faults:
        return parsed
    end = first + data.count(b"\n") - 1
    faults = [as_truncated(fault) if fault.line == end else fault for fault in parsed.faults]
    return replace(parsed, faults=faults)


def as_truncated(fault: Fault) -> Fault:
    """The fault of a last line without newline, made fatal: the missing data cannot be repaired."""
    if fault.kind not in PARSE_FAULTS:
        return fault
    return replace(
        fault, detail=f"ends in the middle of line {fault.line} ({fault.detail}); download it again", fatal=True
    )


def check_encoding(path: Path, encoding: str) -> str:
    """The canonical name of an encoding. It must encode newline, space and digits as ASCII does."""
    try:
        codec = codecs.lookup(encoding).name.removesuffix("-sig")
        plain = "0 \n".encode(codec) == b"0 \n"
    except (LookupError, ValueError):
        raise TableError(
            f"{path}: unknown encoding {encoding!r}; needed a name such as utf-8, latin-1, cp1251"
        ) from None
    if not plain:
        raise TableError(f"{path}: {encoding} cannot be read directly; convert it first: iconv -f {encoding} -t utf-8")
    return codec
