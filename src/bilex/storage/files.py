"""Files and folders are written whole or not at all, and known by their hash.

What is being written has a name of its own, `.NAME.RANDOM.tmp`, beside its place, and is locked. So one that nobody has
locked is left over from a process that was killed; whoever writes to the same place next removes it.
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
"""Windows could neither write to nor rename what is locked."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to; renamed to `path` at the end, removed on any error."""
    with with_file_name(path), _locked_temporary(path, lambda made: made.touch(exist_ok=False)) as temporary:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)


@contextmanager
def atomic_folder(path: Path, *, may_replace: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """A temporary folder beside `path` to fill; renamed to `path` at the end, removed on any error.

    `path` must not exist. With `may_replace` it may be a folder: once the new one is whole it is put aside, where
    nobody looks for it, shown to `may_replace`, which can refuse by an exception, and removed.
    """
    with with_file_name(path), _locked_temporary(path, lambda made: made.mkdir(parents=True)) as temporary:
        yield temporary
        for inside in temporary.rglob("*"):
            sync(inside)
        sync(temporary)
        with _moved_aside(path, may_replace) if may_replace and path.is_dir() else contextlib.nullcontext():
            temporary.rename(path)
            sync(path.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder, if it is there. It is renamed first: nobody finds half of it."""
    with contextlib.suppress(OSError):
        leaving = path.rename(_temporary_name(path))
        shutil.rmtree(leaving, ignore_errors=True)


def remove_stale_files(path: Path) -> None:
    """Remove what processes that were killed have left of a file or folder, and nothing that is being written."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")
    with contextlib.suppress(OSError):
        left = [found for found in path.parent.iterdir() if pattern.fullmatch(found.name)]
        for found in left:
            # Not ours to open, or somebody else was faster.
            with contextlib.suppress(OSError), _locked(found, otherwise=False) as abandoned:
                if abandoned:
                    _remove(found)


def sync(path: Path) -> None:
    """Have the contents of a file on disk before it is renamed, or the names in a folder after that."""
    if path.is_dir():
        with contextlib.suppress(OSError):  # not every system can, and the files are there already
            _sync(path, os.O_RDONLY)
    elif path.is_file():
        _sync(path, os.O_RDONLY if _CAN_LOCK_OPEN_FILES else os.O_RDWR)


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_utf8_name(path: Path) -> None:
    """Refuse a name that is not UTF-8: a run could be made, and not be opened again."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise BilexError(
            f"{path}: the name of this file or of a folder around it is not UTF-8, so that JSON cannot hold it and "
            "some libraries cannot open it; rename it"
        ) from None


def file_name(path: str) -> str:
    """The name without the folders, which say much about a machine and nothing about the file."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name


@contextmanager
def _locked_temporary(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """What `make` makes, under a name that nobody else has, locked as long as it is worked on; removed at the end."""
    remove_stale_files(path)
    while True:
        made = _temporary_name(path)
        make(made)
        try:
            with _locked(made, otherwise=True) as ours:
                if ours:
                    yield made
                    return
        finally:
            _remove(made)


@contextmanager
def _moved_aside(path: Path, check: Callable[[Path], None]) -> Iterator[None]:
    """Have a folder out of the way: removed at the end, put back on any error.

    Should the power be cut right then, a person finds it under a name that says what it is; nothing removes it.
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
def _locked(path: Path, *, otherwise: bool) -> Iterator[bool]:
    """Whether a file or folder could be locked, until the end; `otherwise` where nothing can be."""
    if not _CAN_LOCK_OPEN_FILES:
        yield otherwise
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
            ours = try_lock(descriptor, path)
        except CannotLockError:
            ours = otherwise
        yield ours
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
