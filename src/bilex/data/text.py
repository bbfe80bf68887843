"""Downloaded text tables, gzipped or not: count their lines, check them, and cut them to their first words."""

from __future__ import annotations

import zlib
from itertools import chain
from typing import TYPE_CHECKING

from bilex.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.io.contents import Header

CHUNK_BYTES = 1 << 20
MAX_HEADER_BYTES = 100
GZIP_WINDOW_BITS = 31  # zlib's number for a gzip header and checksum


class ContentError(DataError):
    """The downloaded content is wrong. The download is removed."""


class Decoder:
    """Decompresses a file chunk by chunk, if it is gzipped."""

    def __init__(self, *, gzipped: bool) -> None:
        self._inner = zlib.decompressobj(GZIP_WINDOW_BITS) if gzipped else None

    @property
    def finished(self) -> bool:
        """Whether the data are complete, as far as gzip tells."""
        return self._inner is None or self._inner.eof

    def feed(self, chunk: bytes) -> bytes:
        """The decompressed bytes of the next chunk."""
        if self._inner is None:
            return chunk
        plain = []
        try:
            while chunk:
                if self._inner.eof:  # another gzip member follows
                    self._inner = zlib.decompressobj(GZIP_WINDOW_BITS)
                plain.append(self._inner.decompress(chunk))
                chunk = self._inner.unused_data
        except zlib.error as error:
            raise ContentError(f"the compressed data are damaged ({error}); fetch again, or use a `mirror`") from None
        return b"".join(plain)


class LineCounter:
    """Counts the lines of a file chunk by chunk."""

    def __init__(self, *, gzipped: bool) -> None:
        self._decoder = Decoder(gzipped=gzipped)
        self.count = 0

    def feed(self, chunk: bytes) -> None:
        """Count the lines that end in the next chunk."""
        self.count += self._decoder.feed(chunk).count(b"\n")

    def feed_file(self, path: Path) -> LineCounter:
        """Count the lines of a file."""
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                self.feed(chunk)
        return self

    @property
    def finished(self) -> bool:
        """Whether the data are complete, as far as gzip tells."""
        return self._decoder.finished


def check_table(path: Path, *, gzipped: bool) -> int:
    """The number of words of a complete table. ContentError if it has fewer than its header says."""
    header = _header(_plain(path, gzipped=gzipped))[0]
    lines = LineCounter(gzipped=gzipped).feed_file(path)
    if lines.count - 1 < header.words or not lines.finished:
        raise ContentError(
            f"it is cut short: the header says {header.words:,} words, there are {lines.count - 1:,}; if it is like "
            "this on the server, use a `mirror`, or give its hash with `checksums`"
        )
    return lines.count - 1


def first_words(path: Path, max_words: int, *, gzipped: bool) -> int:
    """The number of words to keep: `max_words`, or all words if there are fewer."""
    enough = LineCounter(gzipped=gzipped).feed_file(path).count > max_words
    return max_words if enough else check_table(path, gzipped=gzipped)


def write_head(path: Path, target: Path, words: int, *, gzipped: bool) -> None:
    """Write the first `words` words of a table, with a new header. The table must have at least as many."""
    chunks = _plain(path, gzipped=gzipped)
    header, rest = _header(chunks)
    with target.open("wb") as file:
        file.write(b"%d %d\n" % (words, header.width))
        for chunk in chain([rest], chunks):
            lines = chunk.count(b"\n")
            file.write(chunk if lines < words else _first_lines(chunk, words))
            words -= min(lines, words)
            if not words:
                break


def _first_lines(text: bytes, count: int) -> bytes:
    return b"\n".join(text.split(b"\n", count)[:count]) + b"\n"


def _plain(path: Path, *, gzipped: bool) -> Iterator[bytes]:
    decoder = Decoder(gzipped=gzipped)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield decoder.feed(chunk)


def _header(chunks: Iterator[bytes]) -> tuple[Header, bytes]:
    """The header, and the bytes that were read after it."""
    from bilex.io.layout import parse_header

    text = b""
    for chunk in chunks:
        text += chunk
        if b"\n" in text or len(text) > MAX_HEADER_BYTES:
            break
    line, _, rest = text.partition(b"\n")
    header = parse_header(line)
    if header is None:
        raise ContentError(
            f"it begins with {line[:MAX_HEADER_BYTES]!r}, needed a header 'words dimension'; use a `mirror`"
        )
    return header, rest
