"""Sequential reading of a file, decompressed if needed. Errors of the operating system become TableErrors."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from bilex.errors import TableError
from bilex.storage.disk import file_kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

GZIP_MAGIC = b"\x1f\x8b"


class Stream:
    """A file that is read sequentially, gzipped or not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with read_errors_as_table_errors(path):
            self._raw = path.open("rb")
            self._size = path.stat().st_size
            self.compressed = self._raw.read(2) == GZIP_MAGIC
            self._raw.seek(0)
        self._file = cast("IO[bytes]", gzip.GzipFile(fileobj=self._raw)) if self.compressed else self._raw

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end of the file."""
        with read_errors_as_table_errors(self.path):
            return self._file.read(size)

    @property
    def progress(self) -> float:
        """Share of the file read so far, 0 to 1 (of the compressed bytes, if it is compressed)."""
        return min(1.0, self._raw.tell() / max(1, self._size))

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._raw.close()


def require_seekable_file(path: Path) -> None:
    """Refuse a pipe, a device or a socket. Opening one may block forever, and it can be read only once."""
    with read_errors_as_table_errors(path):
        kind = file_kind(path)
    if kind not in (None, "a folder"):
        raise TableError(
            f"{path}: this is {kind}, and a table cannot be read from it; write the table to a file, and give that file"
        )


@contextmanager
def read_errors_as_table_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system and of gzip into a TableError that says what to do."""
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"{path}: no such file; check the name and the folder") from None
    except IsADirectoryError:
        raise TableError(f"{path}: this is a folder, needed a file of word vectors; name the file inside it") from None
    except PermissionError:
        raise TableError(f"{path}: not allowed to read it; change its permissions (chmod u+r)") from None
    except EOFError:
        raise TableError(f"{path}: the compressed data end too early (cut short); download it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise TableError(f"{path}: the compressed data are damaged ({error}); download it again") from None
    except OSError as error:
        advice = "download it again" if error.errno is None else "check the disk and try again"  # bz2 has no number
        raise TableError(f"{path}: cannot be read ({error.strerror or error}); {advice}") from None
