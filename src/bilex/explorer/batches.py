"""Requests that come at the same time are answered together, by one thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 32
"""Requests in one batch."""


class Batches(Generic[Key, Item, Result]):
    """One thread that takes what has gathered while it worked, and does all of one kind in one go.

    One matrix product for many queries costs little more than for one, and threads that wait take no core from it.
    """

    def __init__(self, work: Callable[[Key, list[Item]], list[Result]], *, most: int = MOST) -> None:
        self._work, self._most = work, most
        self._waiting: queue.SimpleQueue[tuple[Key, Item, Future[Result]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="bilex-queries", daemon=True)
        self._thread.start()

    def submit(self, key: Key, item: Item) -> Future[Result]:
        """The result to come of one item; items of the same key are worked on together."""
        future: Future[Result] = Future()
        self._waiting.put((key, item, future))
        return future

    def close(self) -> None:
        """Finish what was submitted, and end the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            gathered = {first[0]: [first[1:]]}
            ended = self._gather(gathered)
            for key, asked in gathered.items():
                self._answer(key, [(item, future) for item, future in asked if future.set_running_or_notify_cancel()])
            if ended:
                return

    def _gather(self, gathered: dict[Key, list[tuple[Item, Future[Result]]]]) -> bool:
        """Take what waits already; whether the end was among it."""
        for _ in range(self._most - 1):
            try:
                waiting = self._waiting.get_nowait()
            except queue.Empty:
                return False
            if waiting is None:
                return True
            gathered.setdefault(waiting[0], []).append(waiting[1:])
        return False

    def _answer(self, key: Key, asked: list[tuple[Item, Future[Result]]]) -> None:
        if not asked:
            return
        try:
            results = self._work(key, [item for item, _ in asked])
        except BaseException as error:  # whoever asked is told; the thread must go on
            for _, future in asked:
                future.set_exception(error)
        else:
            for (_, future), result in zip(asked, results, strict=True):
                future.set_result(result)
