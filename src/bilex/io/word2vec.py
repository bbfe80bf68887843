"""The binary format of word2vec: a header line, then for each word its bytes, a space and d float32, little-endian."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.errors import TableError
from bilex.io.contents import Contents
from bilex.io.layout import parse_header
from bilex.io.lines import format_field
from bilex.io.report import Fault
from bilex.io.size import MAX_WORD_BYTES, check_dim
from bilex.io.stream import Stream
from bilex.io.text import check_encoding
from bilex.io.words_and_rows import ParsedRows, TableBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from numpy.typing import NDArray

CHUNK_BYTES = 2 << 20


def read_word2vec(
    path: Path, *, max_words: int | None = None, encoding: str = "utf-8", strict: bool = False
) -> Contents:
    """Read a word2vec .bin, gzipped or not."""
    codec = check_encoding(path, encoding)
    builder = TableBuilder(path, unit="row", max_words=max_words, strict=strict)
    with Stream(path) as stream:
        start = stream.read(CHUNK_BYTES)
        line, _, rest = start.partition(b"\n")
        header = parse_header(line)
        if header is None:
            raise TableError(f"{path}: begins with {format_field(line)}, needed a word2vec header 'words dimension'")
        check_dim(path, header.width)
        count = 0
        for words, rows in read_records(stream, rest, header.width):
            builder.add(decode_words(words, rows, count + 1, codec), stream.progress)
            count += len(words)
            if builder.full:
                break
    words_, rows_, report = builder.finish(header.words)
    return Contents("word2vec", words_, rows_, report, None, header, compressed=stream.compressed)


def write_word2vec(file: IO[bytes], words: list[str], rows: NDArray[np.float32]) -> None:
    """Write as the word2vec tool does, with a newline after each vector. Words must not contain spaces."""
    file.write(b"%d %d\n" % rows.shape)
    for start in range(0, len(words), 4096):
        block = rows[start : start + 4096].astype("<f4", copy=False)
        pairs = zip(words[start : start + 4096], block, strict=True)
        file.write(b"".join(b"%b %b\n" % (word.encode(), row.tobytes()) for word, row in pairs))


def read_records(stream: Stream, data: bytes, width: int) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
    """Words and rows of all records. data: bytes read before. TableError if the file ends within a record."""
    count = 0
    while True:
        words, rows, used = split_records(data, width)
        count += len(words)
        if words:
            yield words, rows
        data = data[used:]
        if len(data) > MAX_WORD_BYTES + 4 * width and data.find(b" ", 0, MAX_WORD_BYTES) < 0:
            raise TableError(f"{stream.path}, row {count + 1}: no end of the word within 64 KB; needed a word2vec .bin")
        more = stream.read(CHUNK_BYTES)
        if not more:
            break
        data += more
    if data.strip(b"\n"):
        raise TableError(f"{stream.path}: ends in the middle of row {count + 1}; download it again")


def split_records(data: bytes, width: int) -> tuple[list[bytes], NDArray[np.float32], int]:
    """Words and rows (n, d) of the complete records in `data`, and the number of bytes used."""
    words, vectors, position, size = [], [], 0, 4 * width
    view = memoryview(data)
    while (space := data.find(b" ", position)) >= 0 and space + 1 + size <= len(data):
        words.append(data[position:space].lstrip(b"\n"))
        position = space + 1 + size
        vectors.append(view[space + 1 : position])
    rows = np.frombuffer(b"".join(vectors), "<f4").astype(np.float32, copy=False)
    return words, rows.reshape(-1, width), position


def decode_words(words: list[bytes], rows: NDArray[np.float32], first: int, codec: str) -> ParsedRows:
    """Decoded words with their rows. Words that are empty or invalid in the encoding become faults."""
    texts, good, faults = [], [], []
    for i, word in enumerate(words):
        try:
            text = word.decode(codec)
        except UnicodeDecodeError:
            faults.append(Fault("undecodable", first + i, f"{format_field(word)} is not {codec}"))
            continue
        if text:
            texts.append(text)
            good.append(i)
        else:
            faults.append(Fault("empty_word", first + i, "a vector and no word before it"))
    rows = rows if len(good) == len(rows) else rows[good]
    return ParsedRows(texts, rows, [first + i for i in good], faults)
