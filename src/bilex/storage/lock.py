"""Locks between processes. The operating system releases a lock when its process ends, so no lock is ever stale."""

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
"""Name of the lock file in a folder that only one process may use at a time."""
RETRY_INTERVAL = 0.5
"""Seconds between two attempts to acquire a lock."""
MAX_OWNER_LENGTH = 400
"""A lock file that says more is damaged: the name of a host has at most 253 characters."""
_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def wait_for_lock(
    path: Path, on_wait: Callable[[str], None], wait: Callable[[float], None] = time.sleep
) -> Iterator[None]:
    """Hold the lock on a file. The file is created if needed, and removed at the end.

    If another process holds the lock, wait for it. `on_wait` is called once with the name of that process.
    """
    notified = False
    while (lock := _acquire(path)) is None:
        if not notified:
            on_wait(lock_owner(path))
        notified = True
        wait(RETRY_INTERVAL)
    with _release_at_end(lock, path):
        yield


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold the lock on a file, or raise LockError if another process holds it.

    On file systems without locks nothing is locked. The folder of the file may be renamed or removed meanwhile.
    """
    try:
        lock = _acquire(path)
    except CannotLockError:
        yield
        return
    if lock is None:
        raise LockError(
            f"{path.parent}: {lock_owner(path)} is using this folder; wait for it, or choose another folder"
        )
    with _release_at_end(lock, path):
        yield


class CannotLockError(OSError):
    """The file system does not support locks. Some network file systems do not."""


def lock_owner(path: Path) -> str:
    """The process that holds the lock, as the lock file says, or "another process"."""
    try:
        content = read_json(path)
        owner = f"process {content['process']:d} on {content['host']} (since {content['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    return owner if owner.isprintable() and len(owner) < MAX_OWNER_LENGTH else "another process"


def try_lock(descriptor: int, path: Path) -> bool:
    """Lock an open file or folder. False if another process holds the lock, or has moved the file away from `path`."""
    try:
        return lock_descriptor(descriptor, blocking=False) and _is_same_file(descriptor, path)
    except OSError as error:
        raise CannotLockError(error.errno, error.strerror, str(path)) from error


def _acquire(path: Path) -> int | None:
    """A descriptor of the locked file, or None if another process holds the lock."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, _OPEN_FLAGS, 0o666)
        except FileNotFoundError:  # the folder was removed at the same moment
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
        with contextlib.suppress(OSError):  # Windows cannot remove an open file
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
    with contextlib.suppress(OSError):  # only used in messages
        os.truncate(descriptor, 0)
        os.write(descriptor, text.encode())
