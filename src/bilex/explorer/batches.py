"""Batching: one thread answers requests that arrive at the same time together."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_BATCH = 32
"""Requests in one batch at most."""


class Batches(Generic[Key, Item, Result]):
    """One thread that takes the waiting requests and answers all requests with the same key in one call.

    One matrix product for many queries costs little more than for one. Waiting threads take no CPU time from it.
    """

    def __init__(self, work: Callable[[Key, list[Item]], list[Result]], *, max_batch: int = MAX_BATCH) -> None:
        self._work, self._max_batch = work, max_batch
        self._waiting: queue.SimpleQueue[tuple[Key, Item, Future[Result]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="bilex-queries", daemon=True)
        self._thread.start()

    def submit(self, key: Key, item: Item) -> Future[Result]:
        """A future for the result of one item. Items with the same key are processed together."""
        future: Future[Result] = Future()
        self._waiting.put((key, item, future))
        return future

    def close(self) -> None:
        """Finish the submitted items, and stop the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = {first[0]: [first[1:]]}
            closed = self._collect(batch)
            for key, requests in batch.items():
                self._answer(
                    key, [(item, future) for item, future in requests if future.set_running_or_notify_cancel()]
                )
            if closed:
                return

    def _collect(self, batch: dict[Key, list[tuple[Item, Future[Result]]]]) -> bool:
        """Add the waiting requests to the batch. Returns whether `close` was called."""
        for _ in range(self._max_batch - 1):
            try:
                waiting = self._waiting.get_nowait()
            except queue.Empty:
                return False
            if waiting is None:
                return True
            batch.setdefault(waiting[0], []).append(waiting[1:])
        return False

    def _answer(self, key: Key, requests: list[tuple[Item, Future[Result]]]) -> None:
        if not requests:
            return
        try:
            results = self._work(key, [item for item, _ in requests])
        except BaseException as error:  # the futures raise it; the thread must continue
            for _, future in requests:
                future.set_exception(error)
        else:
            for (_, future), result in zip(requests, results, strict=True):
                future.set_result(result)
