"""Less garbage collection: torch makes half a million objects when it is imported, and none of them is garbage."""

from __future__ import annotations

import atexit
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def importing() -> Iterator[None]:
    """Import without garbage collection, which would look at the new objects again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def leave_at_exit() -> None:
    """Leave all objects to the operating system when the process ends, instead of collecting them one by one."""
    atexit.register(gc.freeze)
