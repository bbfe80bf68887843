"""Locks between processes. The system gives a lock back when its process ends, however it ends: none is ever stale."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from filelock import lock_descriptor

from bilex.errors import LockError
from bilex.storage.strict_json import read_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOCK_FILE = ".lock"
"""The file that is locked in a folder on which one process works at a time."""
RETRY_INTERVAL = 0.5
"""Seconds between two tries to take a lock."""
_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def wait_for_lock(
    path: Path, on_wait: Callable[[str], None], wait: Callable[[float], None] = time.sleep
) -> Iterator[None]:
    """Hold the lock on a file, which is made for it and removed after it.

    If another process has it, `on_wait` is told once which one, and it is waited for.
    """
    told = False
    while (lock := _acquire(path)) is None:
        if not told:
            on_wait(lock_owner(path))
        told = True
        wait(RETRY_INTERVAL)
    with _release_at_end(lock, path):
        yield


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """The same without waiting: LockError if another process has it. Where files cannot be locked, nobody is kept out.

    The folder of the file may be renamed or removed in between.
    """
    try:
        lock = _acquire(path)
    except CannotLockError:
        yield
        return
    if lock is None:
        raise LockError(f"{path.parent}: {lock_owner(path)} is at work there; wait for it, or choose another folder")
    with _release_at_end(lock, path):
        yield


class CannotLockError(OSError):
    """The file system has no locks, as some network file systems."""


def lock_owner(path: Path) -> str:
    """Which process has the lock on a file, as far as it has said so."""
    try:
        found = read_json(path)
        told = f"process {found['process']:d} on {found['host']} (since {found['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    return told if told.isprintable() else "another process"


def try_lock(descriptor: int, path: Path) -> bool:
    """Lock an open file or folder, unless another process has it, or has taken it away from `path` in the meantime."""
    try:
        return lock_descriptor(descriptor, blocking=False) and _is_same_file(descriptor, path)
    except OSError as error:
        raise CannotLockError(error.errno, error.strerror, str(path)) from error


def _acquire(path: Path) -> int | None:
    """A descriptor of the locked file, which says who has it; none if another process has the lock."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, _OPEN_FLAGS, 0o666)
        except FileNotFoundError:  # the folder was removed that very moment
            continue
        try:
            if try_lock(descriptor, path):
                _write_owner(descriptor)
                return descriptor
            removed = not _is_same_file(descriptor, path)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not removed:
            return None


@contextmanager
def _release_at_end(descriptor: int, path: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows does not remove what is open
            if _is_same_file(descriptor, path):
                path.unlink()
        os.close(descriptor)


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _write_owner(descriptor: int) -> None:
    since = datetime.now().astimezone().isoformat(" ", timespec="seconds")
    text = to_json({"process": os.getpid(), "host": socket.gethostname(), "since": since})
    with contextlib.suppress(OSError):  # it is only told to people
        os.truncate(descriptor, 0)
        os.write(descriptor, text.encode())
