"""One process at a time. The system gives a lock back when its process ends, however it ends: locks are never stale."""

from __future__ import annotations

import errno
import sys
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from bilex.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
INTERVAL = 0.5


@contextmanager
def locked(path: Path, on_wait: Callable[[], None], wait: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Hold the lock on a file, which is made if need be and never removed; `on_wait` is called if another has it."""
    with path.open("ab") as file:
        told = False
        while not _take(file, path):
            if not told:
                on_wait()
            told = True
            wait(INTERVAL)
        yield  # closing the file gives the lock back


def _take(file: IO[bytes], path: Path) -> bool:
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
        raise DataError(
            f"{path}: cannot be locked ({error.strerror}), as on some network file systems; fetch to a --folder on "
            "another disk, then copy it"
        ) from None
    return True
