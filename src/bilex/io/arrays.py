"""Tables as numpy arrays: `.npz` holds words and rows, `.npy` only rows, with the words in a text file beside it."""

from __future__ import annotations

import lzma
import struct
import sys
import zipfile
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bilex.errors import TableError
from bilex.io.contents import Contents
from bilex.io.npy import NpyFile
from bilex.io.report import Fault
from bilex.io.size import MAX_WORD_BYTES, check_dim, check_memory
from bilex.io.stream import read_errors_as_table_errors, require_seekable_file
from bilex.io.words_and_rows import ParsedRows, TableBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

WORD_FILE_SUFFIXES = (".words", ".txt", ".vocab")
MAX_UNPACKED_BYTES, MAX_COMPRESSION_RATIO = 1 << 30, 100
"""A larger array with a higher compression ratio cannot be word vectors. It is refused as a zip bomb."""
NUMPY_READ_ERRORS = (ValueError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, lzma.LZMAError, struct.error)
BLOCK_ROWS = 1 << 14


def read_npz(path: Path, *, max_words: int | None = None, strict: bool = False) -> Contents:
    """Read an archive with `words` and either `rows` or `vectors`. Other arrays are ignored."""
    with numpy_errors_as_table_errors(path), ExitStack() as stack:
        archive = stack.enter_context(zipfile.ZipFile(path))
        members = {name.removesuffix(".npy"): name for name in archive.namelist() if name.endswith(".npy")}
        name = "rows" if "rows" in members else "vectors"
        if "words" not in members or name not in members:
            found = ", ".join(members) or "nothing"
            raise TableError(f"{path}: has the arrays {found}; needed 'words' and 'rows' (or 'vectors')")
        words, rows = (
            NpyFile(
                path, each, stack.enter_context(archive.open(members[each])), archive.getinfo(members[each]).file_size
            )
            for each in ("words", name)
        )
        if words.dtype.kind == "U" and words.ndim == rows.ndim - 1:
            check_counts(path, words.shape[0], rows.shape[0])
        check_compression_ratio(path, archive.getinfo(members[name]), rows, max_words)
        return contents_from_arrays(path, "npz", iterate_words(path, words), rows, max_words, strict)


def read_npy(
    path: Path,
    *,
    words: Path | None = None,
    max_words: int | None = None,
    encoding: str = "utf-8",
    strict: bool = False,
) -> Contents:
    """Read a matrix and its words. The file `words` has one word per line (default: NAME.words, .txt or .vocab)."""
    words = words or find_word_file(path)
    require_seekable_file(words)
    with read_errors_as_table_errors(words):
        raw = words.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    try:
        lines = raw.removesuffix(b"\n").decode(encoding).split("\n")
    except (LookupError, ValueError) as error:
        raise TableError(f"{words}: not {encoding} ({error}); give the encoding the words are in") from None
    with numpy_errors_as_table_errors(path), path.open("rb") as file:
        rows = NpyFile(path, "rows", file, path.stat().st_size)
        check_counts(path, len(lines), rows.shape[0] if rows.shape else 0)
        return contents_from_arrays(path, "npy", lines, rows, max_words, strict)


def write_npz(file: IO[bytes], words: list[str], rows: NDArray[Any]) -> None:
    """Write `rows` and `words`. The words are stored as newline-separated UTF-8: no padding, no pickle."""
    np.savez(file, rows=rows, words=np.frombuffer("\n".join(words).encode(), np.uint8))


def contents_from_arrays(
    path: Path, name: str, words: Iterable[str], rows: NDArray[Any] | NpyFile, max_words: int | None, strict: bool
) -> Contents:
    """Contents from words and rows, checked block by block. Unusable rows are left out and counted."""
    if rows.ndim != 2 or not np.issubdtype(rows.dtype, np.floating) or not rows.shape[1]:
        raise TableError(
            f"{path}: rows are {rows.dtype} of shape {rows.shape}; needed a matrix of floating-point numbers"
        )
    count, width = rows.shape
    check_dim(path, width)
    check_memory(path, min(count, max_words or count) * width * 4, "its vectors")
    builder = TableBuilder(path, unit="row", max_words=max_words, strict=strict)
    remaining, done = iter(words), 0
    for block in row_blocks(rows):
        texts = list(islice(remaining, len(block)))
        if len(texts) < len(block):
            check_counts(path, done + len(texts), count)
        check_encodable(path, texts, done + 1)
        # Numbers too large for float32 become infinite and are counted as such. NaNs may be signalling.
        with np.errstate(over="ignore", invalid="ignore"):
            builder.add(parse_rows(texts, np.ascontiguousarray(block, dtype=np.float32), done + 1), (done + 1) / count)
        done += len(block)
        if builder.full:
            break
    if not builder.full and next(remaining, None) is not None:
        check_counts(path, f"more than {count:,}", count)
    kept, matrix, report = builder.finish()
    return Contents(name, kept, matrix, report)


def row_blocks(rows: NDArray[Any] | NpyFile) -> Iterator[NDArray[Any]]:
    """The rows in order, in blocks."""
    if isinstance(rows, NpyFile):
        return rows.blocks()
    return (rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS))


def parse_rows(words: list[str], rows: NDArray[np.float32], first: int) -> ParsedRows:
    """Words with their rows. Rows with an empty word become faults."""
    named = [i for i, word in enumerate(words) if word]
    if len(named) == len(words):
        return ParsedRows(words, rows, range(first, first + len(words)))
    faults = [Fault("empty_word", first + i, "a row and no word") for i, word in enumerate(words) if not word]
    return ParsedRows([words[i] for i in named], rows[named], [first + i for i in named], faults)


def iterate_words(path: Path, array: NpyFile) -> Iterator[str]:
    """The words of an array of strings, or of newline-separated UTF-8 bytes."""
    if array.ndim != 1 or not (array.dtype.kind == "U" or array.dtype == np.uint8):
        raise TableError(
            f"{path}: 'words' is {array.dtype} of shape {array.shape}; needed strings, or UTF-8 bytes as uint8"
        )
    return decode_string_array(path, array) if array.dtype.kind == "U" else decode_utf8_array(path, array)


def decode_string_array(path: Path, array: NpyFile) -> Iterator[str]:
    """The words of an array of strings. Invalid code points are refused: Python strings cannot hold them."""
    code_point = np.dtype("u4").newbyteorder(array.dtype.byteorder)
    for block in array.blocks():
        if np.frombuffer(block.tobytes(), code_point).max(initial=0) > sys.maxunicode:
            raise TableError(
                f"{path}: 'words' is not Unicode (it has numbers above {sys.maxunicode:#x}); write it again"
            )
        yield from block.tolist()


def decode_utf8_array(path: Path, array: NpyFile) -> Iterator[str]:
    """The words of newline-separated UTF-8 bytes."""
    rest = b""
    try:
        for block in array.blocks():
            *lines, rest = (rest + block.tobytes()).split(b"\n")
            yield from (line.decode() for line in lines)
            if len(rest) > MAX_WORD_BYTES:
                raise TableError(
                    f"{path}: a word of more than 64 KB; needed newlines between the words; write it again"
                )
        yield rest.decode()
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: 'words' is not UTF-8 ({error}); write it again") from None


def check_encodable(path: Path, words: list[str], first: int) -> None:
    """Refuse words with line ends, zero bytes or lone surrogates."""
    joined = "".join(words)
    try:
        joined.encode()
    except UnicodeEncodeError:
        valid = False
    else:
        valid = "\n" not in joined and "\0" not in joined
    if not valid:
        row, word = next(
            (i, w) for i, w in enumerate(words, first) if any(c in "\n\0" or "\ud800" <= c < "\ue000" for c in w)
        )
        raise TableError(
            f"{path}: row {row}: the word {word[:40]!a} has a line end, a zero byte or half of a character; remove it "
            "and write the file again"
        )


def check_counts(path: Path, words: int | str, rows: int) -> None:
    """Refuse different numbers of words and rows."""
    if words != rows:
        found = words if isinstance(words, str) else f"{words:,}"
        raise TableError(f"{path}: {found} words and {rows:,} rows; needed one word for each row")


def check_compression_ratio(path: Path, packed: zipfile.ZipInfo, rows: NpyFile, max_words: int | None) -> None:
    """Refuse a zip bomb: a small archive that unpacks to gigabytes."""
    share = min(1.0, max_words / rows.shape[0]) if max_words and rows.shape and rows.shape[0] else 1.0
    if (
        packed.file_size * share > MAX_UNPACKED_BYTES
        and packed.file_size > MAX_COMPRESSION_RATIO * packed.compress_size
    ):
        raise TableError(
            f"{path}: {packed.compress_size:,} bytes unpack to {packed.file_size:,}, more than {MAX_COMPRESSION_RATIO} "
            "times as many, as no vectors do; check that it is the file you meant, or read fewer words (`max_words`)"
        )


@contextmanager
def numpy_errors_as_table_errors(path: Path) -> Iterator[None]:
    """Turn errors of zipfile and numpy into a TableError that says what to do."""
    try:
        with read_errors_as_table_errors(path):
            yield
    except NUMPY_READ_ERRORS as error:
        raise TableError(f"{path}: not a readable numpy file ({error}); write it again without objects") from None


def find_word_file(path: Path) -> Path:
    """The file with the words of a matrix, in the same folder."""
    for suffix in WORD_FILE_SUFFIXES:
        if (words := path.with_suffix(suffix)).is_file():
            return words
    names = ", ".join(path.with_suffix(suffix).name for suffix in WORD_FILE_SUFFIXES)
    raise TableError(f"{path}: a matrix without words; needed one of {names} beside it, or name the file: `words=...`")
