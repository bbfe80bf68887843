"""What takes long is done in the background, once, while the page is already there."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from bilex.explorer.translations_cache import Induced
    from bilex.search.blocks import Progress

NICER = 10


class StoppedError(Exception):
    """The server ends before the work does."""


class Preparation:
    """The r of all words, then their translations in both directions: each step is usable as soon as it is done."""

    def __init__(self, induced: Induced) -> None:
        index = induced.index
        self._steps: dict[str, Callable[[Progress], Any]] = {
            "neighbourhoods of all words": lambda tell: index.prepare(progress=tell),
            "translations of all words": lambda tell: induced.find(tell),
        }
        self._finished = 0
        self._now = ("", 0, 1)
        self._stop = threading.Event()
        self.error: str | None = None
        self._thread = threading.Thread(target=self._run, name="bilex-preparation", daemon=True)

    def start(self) -> None:
        """Begin; comes back at once."""
        self._thread.start()

    def stop(self) -> None:
        """End after the piece at hand."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Until all is done."""
        if self._thread.ident is not None:
            self._thread.join()

    def status(self) -> dict[str, Any]:
        """How far it is, in plain values."""
        label, done, total = self._now
        share = (self._finished + done / max(1, total)) / len(self._steps)
        return {
            "step": label,
            "share": 1.0 if self._finished == len(self._steps) else min(share, 0.999),
            "done": self._finished == len(self._steps),
            "error": self.error,
        }

    def _run(self) -> None:
        _step_back()
        try:
            for label, work in self._steps.items():
                self._tell(label, 0, 1)
                work(lambda done, total, label=label: self._tell(label, done, total))  # type: ignore[misc]
                self._finished, self._now = self._finished + 1, (label, 0, 1)
        except StoppedError:
            pass
        except Exception as error:  # it is shown on the page; there is nobody here to catch it
            self.error = f"{type(error).__name__}: {error}"

    def _tell(self, label: str, done: int, total: int) -> None:
        if self._stop.is_set():
            raise StoppedError
        self._now = (label, done, total)


def _step_back() -> None:
    """Let the threads that answer requests go first, where a thread can have a priority of its own."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICER)
