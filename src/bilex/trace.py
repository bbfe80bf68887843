"""What a method says while it works: one record per epoch or round."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bilex.errors import AlignmentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Value = str | int | float | bool | None


class Trace:
    """Keeps the records it is called with, and passes each on to a listener (a progress display, a log)."""

    def __init__(self, listener: Callable[[dict[str, Value]], None] | None = None) -> None:
        self.records: list[dict[str, Value]] = []
        self._listener = listener

    def __call__(self, **record: Value) -> None:
        """Take one record, e.g. `trace(epoch=3, loss=0.12, dev_mrr=0.61)`."""
        self.records.append(record)
        if self._listener:
            self._listener(record)

    def write(self, path: Path) -> None:
        """The records as JSON lines."""
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Trace:
        """The inverse of `write`."""
        trace = cls()
        if not path.exists():
            return trace
        try:
            trace.records += map(json.loads, path.read_text(encoding="utf-8").splitlines())
        except (OSError, ValueError) as error:
            raise AlignmentError(f"{path}: cannot be read: {error}; align again") from error
        return trace
