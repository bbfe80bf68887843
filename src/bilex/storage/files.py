"""Atomic writes of files and folders, and file hashes.

A file is first written to a locked temporary file `.NAME.RANDOM.tmp` in the same folder, then renamed. A temporary file
without a lock is left over from a killed process. The next write to the same path removes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import sys
from contextlib import contextmanager
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from bilex.errors import BilexError
from bilex.storage.disk import TEMPORARY_SUFFIX, with_file_name
from bilex.storage.lock import CannotLockError, try_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_CAN_LOCK_OPEN_FILES = sys.platform != "win32"
"""False on Windows, which can neither write to nor rename a locked file."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary file to write to. It is renamed to `path` at the end, and removed on any error."""
    with with_file_name(path), _locked_temporary(path, lambda made: made.touch(exist_ok=False)) as temporary:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)


@contextmanager
def atomic_folder(path: Path, *, may_replace: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """A temporary folder to fill. It is renamed to `path` at the end, and removed on any error.

    `path` must not exist unless `may_replace` is given. In that case an old folder is moved aside when the new one is
    complete. Then `may_replace` is called with it, and may refuse by raising an exception. At last it is removed.
    """
    with with_file_name(path), _locked_temporary(path, lambda made: made.mkdir(parents=True)) as temporary:
        yield temporary
        for child in temporary.rglob("*"):
            sync(child)
        sync(temporary)
        with _moved_aside(path, may_replace) if may_replace and path.is_dir() else contextlib.nullcontext():
            temporary.rename(path)
            sync(path.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder if it exists. It is renamed first, so that no other process sees half of it."""
    with contextlib.suppress(OSError):
        renamed = path.rename(_temporary_name(path))
        shutil.rmtree(renamed, ignore_errors=True)


def remove_stale_files(path: Path) -> None:
    """Remove temporary files that killed processes left beside `path`. Files that are being written are kept."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")
    with contextlib.suppress(OSError):
        candidates = [child for child in path.parent.iterdir() if pattern.fullmatch(child.name)]
        for candidate in candidates:
            # OSError: no permission to open it, or another process has removed it.
            with contextlib.suppress(OSError), _locked(candidate, if_unsupported=False) as is_stale:
                if is_stale:
                    _remove(candidate)


def sync(path: Path) -> None:
    """Flush a file to disk before it is renamed, or a folder after a rename in it."""
    if path.is_dir():
        with contextlib.suppress(OSError):  # some systems cannot sync folders; the files themselves are on disk
            _sync(path, os.O_RDONLY)
    elif path.is_file():
        _sync(path, os.O_RDONLY if _CAN_LOCK_OPEN_FILES else os.O_RDWR)


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_utf8_name(path: Path) -> None:
    """Refuse a name that is not UTF-8: a run with this name could be written but not opened again."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise BilexError(
            f"{path}: the name of this file or of a parent folder is not UTF-8, so JSON cannot hold it and some "
            "libraries cannot open it; rename it"
        ) from None


def file_name(path: str) -> str:
    """The name without the folders. Folder names tell much about a machine and nothing about the file."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name


@contextmanager
def _locked_temporary(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Create a temporary file or folder with `make`. It has a random name, stays locked, and is removed at the end."""
    remove_stale_files(path)
    while True:
        temporary = _temporary_name(path)
        make(temporary)
        try:
            with _locked(temporary, if_unsupported=True) as is_locked:
                if is_locked:
                    yield temporary
                    return
        finally:
            _remove(temporary)


@contextmanager
def _moved_aside(path: Path, check: Callable[[Path], None]) -> Iterator[None]:
    """Move a folder aside. It is removed at the end, and moved back on any error.

    After a power failure it stays under the name NAME.replaced-RANDOM, where a person can find it. Nothing removes it.
    """
    aside = path.rename(path.with_name(f"{path.name}.replaced-{secrets.token_hex(4)}"))
    try:
        check(aside)
        yield
    except BaseException:
        aside.rename(path)
        raise
    shutil.rmtree(aside.rename(_temporary_name(path)), ignore_errors=True)


def _temporary_name(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")


@contextmanager
def _locked(path: Path, *, if_unsupported: bool) -> Iterator[bool]:
    """Lock a file or folder, and yield whether that worked; `if_unsupported` if the system has no locks for it."""
    if not _CAN_LOCK_OPEN_FILES:
        yield if_unsupported
        return
    try:
        descriptor = os.open(path, (os.O_RDONLY if path.is_dir() else os.O_RDWR) | os.O_NOFOLLOW)
    except FileNotFoundError:
        descriptor = None
    if descriptor is None:
        yield False
        return
    try:
        try:
            is_locked = try_lock(descriptor, path)
        except CannotLockError:
            is_locked = if_unsupported
        yield is_locked
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
