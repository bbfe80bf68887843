"""Kinds of files, errors of the operating system with the file's name and advice, and checks of free disk space."""

from __future__ import annotations

import errno
import shutil
import stat
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING

from bilex.errors import DiskFullError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TEMPORARY_SUFFIX = ".tmp"
"""Suffix of files that are still being written."""


def file_kind(path: Path) -> str | None:
    """What `path` is, such as "a pipe", or None for a regular file. Opening anything else may block forever."""
    mode = path.stat().st_mode
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return None if stat.S_ISREG(mode) else next((kind for test, kind in kinds.items() if test(mode)), "a device")


def is_file(path: Path) -> bool:
    """Whether `path` is a file. False for a name that the operating system does not accept."""
    try:
        return path.is_file()
    except OSError:
        return False


def require_regular_file(path: Path) -> None:
    """Raise OSError if `path` is not a regular file. To be called before the file is opened."""
    if (kind := file_kind(path)) is not None:
        raise OSError(errno.EINVAL, f"this is {kind}, needed a file", str(path))


@contextmanager
def with_file_name(path: Path) -> Iterator[None]:
    """Give an OSError the name of the file to be written, if it names a temporary file or no file."""
    try:
        yield
    except OSError as error:
        parts = [] if error.filename is None else PurePath(str(error.filename)).parts
        known = bool(parts) and not any(part.endswith(TEMPORARY_SUFFIX) for part in parts)
        if error.errno is None or (known and error.errno not in DISK_FULL_ERRORS):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def describe_os_error(error: OSError, advice: str = "") -> str:
    """The error text of the operating system, and what to do. `advice` is used if the disk is not full."""
    if error.errno in DISK_FULL_ERRORS:
        advice = "free some space there, or choose another place"
    return "; ".join(filter(None, (error.strerror or str(error), advice)))


def free_bytes(path: Path) -> int:
    """Free bytes on the disk of `path`, which need not exist yet."""
    existing = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.is_dir())
    return shutil.disk_usage(existing).free


def require_disk_space(path: Path, needed: int, what: str) -> None:
    """Raise DiskFullError if fewer than `needed` bytes are free."""
    if needed > (free := free_bytes(path)):
        raise DiskFullError(
            f"{path}: {what} will take {format_bytes(needed)}, and {format_bytes(free)} are free there; free some "
            "space, or choose another place"
        )


def format_bytes(size: int) -> str:
    """A number of bytes in GB or MB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.2f} MB"
