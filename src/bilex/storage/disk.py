"""Disks: what there is under a name, errors that name the file and say what to do, and room for long work."""

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
"""What the names of files end in that are not finished."""


def file_kind(path: Path) -> str | None:
    """What there is in place of a regular file, such as "a pipe": to open it may wait without end. None for a file."""
    mode = path.stat().st_mode
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return None if stat.S_ISREG(mode) else next((kind for test, kind in kinds.items() if test(mode)), "a device")


def is_file(path: Path) -> bool:
    """Whether there is such a file; there is none of a name that the system does not take."""
    try:
        return path.is_file()
    except OSError:
        return False


def require_regular_file(path: Path) -> None:
    """OSError for anything but a regular file, before it is opened."""
    if (kind := file_kind(path)) is not None:
        raise OSError(errno.EINVAL, f"this is {kind}, needed a file", str(path))


@contextmanager
def with_file_name(path: Path) -> Iterator[None]:
    """Errors of the system have the name of the file that was to be written, not that of a temporary one, or none."""
    try:
        yield
    except OSError as error:
        parts = [] if error.filename is None else PurePath(str(error.filename)).parts
        known = bool(parts) and not any(part.endswith(TEMPORARY_SUFFIX) for part in parts)
        if error.errno is None or (known and error.errno not in DISK_FULL_ERRORS):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def describe_os_error(error: OSError, advice: str = "") -> str:
    """What the system says about a file that could not be written, and what to do; `advice`: if it is not full."""
    if error.errno in DISK_FULL_ERRORS:
        advice = "free some space there, or choose another place"
    return "; ".join(filter(None, (error.strerror or str(error), advice)))


def free_bytes(path: Path) -> int:
    """What is free where `path` is, or will be made."""
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.is_dir())
    return shutil.disk_usage(there).free


def require_disk_space(path: Path, needed: int, what: str) -> None:
    """Refuse to begin what there is no room for."""
    if needed > (free := free_bytes(path)):
        raise DiskFullError(
            f"{path}: {what} will take {format_bytes(needed)}, and {format_bytes(free)} are free there; free some "
            "space, or choose another place"
        )


def format_bytes(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.2f} MB"
