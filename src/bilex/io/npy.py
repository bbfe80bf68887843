"""One array in numpy's .npy format. The header is read and checked first, then the rows block by block."""

from __future__ import annotations

import math
import warnings
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bilex.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

MAGIC = b"\x93NUMPY"
HEADER_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4}
"""Size of the header's length field, by format version. Version 3 is only for field names, which a matrix lacks."""
MAX_HEADER_BYTES = 10_000
BLOCK_BYTES = 4 << 20


class NpyFile:
    """An array in an open file. `size` is the number of bytes with the header. Only the header has been read."""

    def __init__(self, path: Path, name: str, file: IO[bytes], size: int) -> None:
        self.path, self.name, self._file = path, name, file
        self.shape, self._fortran, self.dtype, start = self._header()
        available, needed = size - start, math.prod(self.shape) * self.dtype.itemsize
        if available < needed:
            raise self._damaged(f"{name!r} should have {needed:,} bytes and has {available:,}: it is cut short")

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def blocks(self) -> Iterator[NDArray[Any]]:
        """The values along the first axis in order, some megabytes per block."""
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        step = max(1, BLOCK_BYTES // max(1, row))
        if self._fortran and self.ndim > 1:  # column-major: no row is complete before the last column
            whole = self._read(self.shape[::-1]).T
            yield from (whole[start : start + step] for start in range(0, self.shape[0], step))
            return
        for start in range(0, self.shape[0], step):
            yield self._read((min(step, self.shape[0] - start), *self.shape[1:]))

    def _read(self, shape: tuple[int, ...]) -> NDArray[Any]:
        needed = math.prod(shape) * self.dtype.itemsize
        data = self._file.read(needed)
        if len(data) < needed:
            raise self._damaged(f"{self.name!r} ends too early: it is cut short")
        if not self.dtype.itemsize:
            return np.zeros(shape, self.dtype)
        return np.frombuffer(data, self.dtype).reshape(shape)

    def _header(self) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
        """Shape, whether the order is column-major, dtype, and offset of the data."""
        start = self._file.read(8)
        length = HEADER_LENGTH_BYTES.get((start[6], start[7])) if start[:6] == MAGIC and len(start) == 8 else None
        if length is None:
            raise self._damaged(f"{self.name!r} is not an array of version 1 or 2")
        start += self._file.read(length)
        size = int.from_bytes(start[8:], "little")
        if size > MAX_HEADER_BYTES:
            raise self._damaged(f"the header of {self.name!r} has {size:,} bytes")
        start += self._file.read(size)
        read = np.lib.format.read_array_header_1_0 if length == 2 else np.lib.format.read_array_header_2_0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings about old headers, which are still readable
                shape, fortran, dtype = read(_after_magic(start))
        except Exception as error:  # numpy raises tokenizer, syntax, type and memory errors
            raise self._damaged(f"the header of {self.name!r} is damaged: {error}") from None
        if dtype.hasobject:
            raise self._damaged("Object arrays are never loaded, since they can run any code")
        if min(shape, default=0) < 0:
            raise self._damaged(f"{self.name!r} has the shape {shape}")
        return shape, fortran, dtype, len(start)

    def _damaged(self, found: str) -> TableError:
        return TableError(f"{self.path}: not a readable numpy file ({found}); write it again without objects")


def _after_magic(start: bytes) -> BytesIO:
    file = BytesIO(start)
    np.lib.format.read_magic(file)
    return file
