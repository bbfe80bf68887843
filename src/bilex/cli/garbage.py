"""Less garbage collection: torch makes half a million objects when it is imported, and none of them is garbage."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bilex.cli.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def importing() -> Iterator[None]:
    """Import without garbage collection, which would look at the new objects again and again.

    In a process that ends with the command, later collections do not look at them either.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if Invocation.has_own_process():
            gc.freeze()
        if was_enabled:
            gc.enable()
