"""Slow computations in a background thread, while the page can already be used."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from bilex.errors import BilexError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bilex.explorer.translations_cache import Induced
    from bilex.search.blocks import Progress

NICENESS = 10


class NotReadyError(Exception):
    """The requested data are still being prepared."""


class StoppedError(Exception):
    """The server stopped before the preparation was finished."""


class Background:
    """Slow steps, done one after the other in a thread, with their progress. They call it often: it may stop them."""

    def __init__(self, steps: Mapping[str, Callable[[Progress], Any]], name: str) -> None:
        self._steps = steps
        self._finished = 0
        self._current = ("", 0, 1)
        self._stop = threading.Event()
        self.error: str | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def running(self) -> bool:
        """Whether the thread has begun and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop at the next report of progress, and wait for the thread."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Wait until the thread has ended."""
        if self._thread.ident is not None:
            self._thread.join()

    def status(self) -> dict[str, Any]:
        """The progress, in plain values."""
        label, done, total = self._current
        share = (self._finished + done / max(1, total)) / len(self._steps)
        return {
            "step": label,
            "share": 1.0 if self._finished == len(self._steps) else min(share, 0.999),
            "done": self._finished == len(self._steps),
            "error": self.error,
        }

    def _run(self) -> None:
        _lower_priority()
        try:
            for label, work in self._steps.items():
                self._report(label, 0, 1)
                work(lambda done, total, label=label: self._report(label, done, total))  # type: ignore[misc]
                self._finished, self._current = self._finished + 1, (label, 0, 1)
        except StoppedError:
            pass
        except BilexError as error:
            self.error = str(error)
        except Exception as error:  # nothing can catch it in this thread; the page shows it
            self.error = f"{type(error).__name__}: {error}"

    def _report(self, label: str, done: int, total: int) -> None:
        if self._stop.is_set():
            raise StoppedError
        self._current = (label, done, total)


class Preparation(Background):
    """The CSLS penalty r of all words, then the translations of all words. Each step can be used when it is done.

    warm_up: computes what the review list needs at the end, so that no key has to wait for it.
    """

    def __init__(self, induced: Induced, warm_up: Callable[[], object] = lambda: None) -> None:
        index = induced.index

        def translate(progress: Progress) -> None:
            induced.find(progress)
            warm_up()

        steps: dict[str, Callable[[Progress], Any]] = {
            "neighbourhoods of all words": lambda progress: index.prepare(progress=progress),
            "translations of all words": translate,
        }
        super().__init__(steps, "bilex-preparation")


def _lower_priority() -> None:
    """Give this thread a lower priority than those that answer requests; only Linux has priorities per thread."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
