"""Files are written whole or not at all, known by their hash, and locked by one process at a time."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write a file to; renamed to `path` at the end, removed on any error."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` to fill; renamed to `path`, which must not exist, or removed on any error."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bare_name(path: str) -> str:
    """The name without the folders, which say much about a machine and nothing about the file."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name


def take_lock(file: IO[bytes]) -> bool:
    """Lock an open file, unless another process has it; OSError where files cannot be locked.

    The system gives the lock back when the file is closed or its process ends, however it ends: locks are never stale.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in TAKEN:
            return False
        raise
    return True
