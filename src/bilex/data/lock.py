"""One process at a time fetches a file; the others wait."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from bilex.errors import DataError
from bilex.files import take_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
        return take_lock(file)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be locked ({error.strerror}), as on some network file systems; fetch to a --folder on "
            "another disk, then copy it"
        ) from None
