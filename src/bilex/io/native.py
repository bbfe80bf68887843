"""The native format: a .safetensors file whose rows are memory-mapped.

Tensors: `rows` (n, d) in float32 or float16, and `words`, newline-separated UTF-8 as bytes. The metadata name the
format and its version.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bilex.errors import TableError
from bilex.io.contents import Contents
from bilex.io.report import ReadReport
from bilex.io.stream import read_errors_as_table_errors
from bilex.storage.strict_json import from_json, to_json

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

METADATA = {"format": "bilex-table", "version": "1"}
DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "U8": np.dtype("u1")}
BLOCK_ROWS = 1 << 14
MAX_HEADER_BYTES = 100 << 20
"""The limit of the safetensors format."""


def read_native(path: Path, *, max_words: int | None = None) -> Contents:
    """Open a table. float32 rows are memory-mapped copy-on-write: the file is scanned once and never changed."""
    if max_words is not None and max_words < 1:
        raise TableError(f"{path}: asked to read {max_words} words; `max_words` must be at least 1")
    header, start = read_header(path)
    rows = map_tensor(path, header, "rows", start, ("F32", "F16"), 2)
    try:
        words = map_tensor(path, header, "words", start, ("U8",), 1).tobytes().decode().split("\n")
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: damaged ('words' is not UTF-8: {error}); write it again") from None
    if len(words) != len(rows):
        raise TableError(f"{path}: damaged, {len(words):,} words and {len(rows):,} rows; write it again")
    rows = np.require(rows[:max_words], np.float32, ["C", "A"])
    check_finite(path, rows)
    return Contents("safetensors", words[:max_words], rows, ReadReport(len(rows), len(rows), unit="row"))


def write_native(file: IO[bytes], words: list[str], rows: NDArray[Any]) -> None:
    """Write rows in their own dtype (float32 or float16), block by block."""
    text = "\n".join(words).encode()
    code = "F16" if rows.dtype == np.float16 else "F32"
    size = rows.size * DTYPES[code].itemsize
    header = {
        "__metadata__": METADATA,
        "rows": {"dtype": code, "shape": list(rows.shape), "data_offsets": [0, size]},
        "words": {"dtype": "U8", "shape": [len(text)], "data_offsets": [size, size + len(text)]},
    }
    encoded = to_json(header).encode()
    encoded += b" " * (-(8 + len(encoded)) % 64)  # memory-mapped rows must be aligned
    file.write(len(encoded).to_bytes(8, "little") + encoded)
    for start in range(0, len(rows), BLOCK_ROWS):
        file.write(np.ascontiguousarray(rows[start : start + BLOCK_ROWS], DTYPES[code]).data)
    file.write(text)


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """The JSON header of a bilex table, and the offset of its data."""
    with read_errors_as_table_errors(path), path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length + 8 > path.stat().st_size:
            raise TableError(f"{path}: ends inside its header; download or write it again")
        if length > MAX_HEADER_BYTES:
            raise TableError(f"{path}: not a safetensors file (a header of {length:,} bytes); write it again")
        encoded = file.read(length)
    try:
        header = from_json(encoded)
        metadata = dict(header.get("__metadata__", {}))
    except (ValueError, AttributeError, TypeError):
        raise TableError(f"{path}: not a safetensors file (its header is not JSON); write it again") from None
    if metadata.get("format") != METADATA["format"]:
        names = ", ".join(name for name in header if name != "__metadata__") or "nothing"
        raise TableError(f"{path}: a safetensors file of {names}, not a bilex table; make one with `bilex convert`")
    if metadata.get("version") != METADATA["version"]:
        raise TableError(f"{path}: table of version {metadata.get('version')}, needed version 1; update bilex")
    return header, 8 + length


def check_finite(path: Path, rows: NDArray[np.float32]) -> None:
    """Refuse NaN and infinity, which bilex never writes."""
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows[start : start + BLOCK_ROWS]
        if not np.isfinite([block.min(), block.max()]).all():
            row = start + int(np.isfinite(block).all(axis=1).argmin()) + 1
            raise TableError(
                f"{path}: damaged, it has numbers that are not finite, first in row {row:,}; download or write it again"
            )


def map_tensor(
    path: Path, header: dict[str, Any], name: str, start: int, dtypes: tuple[str, ...], ndim: int
) -> NDArray[Any]:
    """One tensor of the file, memory-mapped copy-on-write. Its description is checked against the file first."""
    try:
        code, shape, (begin, end) = (header[name][key] for key in ("dtype", "shape", "data_offsets"))
        numbers = [*shape, begin, end]
        if code not in dtypes or len(shape) != ndim or any(type(number) is not int for number in numbers):
            raise ValueError(code)
        if min(shape) < 1 or begin < 0:
            raise ValueError(shape)
        wrong = int(np.prod(shape, dtype=object)) * DTYPES[code].itemsize != end - begin
    except (KeyError, TypeError, ValueError):
        wrong = True
    if wrong:
        raise TableError(f"{path}: damaged (wrong description of {name!r}); write it again with `bilex convert`")
    size = path.stat().st_size
    if start + end > size:
        raise TableError(f"{path}: has {size:,} bytes, needed {start + end:,} (cut short); download or write it again")
    with read_errors_as_table_errors(path):
        return np.asarray(np.memmap(path, DTYPES[code], "c", start + begin, tuple(shape)))
