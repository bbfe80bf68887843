"""What a method reports during training: records for the run folder, and progress for a display."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.errors import AlignmentError, error_text
from bilex.storage.strict_json import check_type, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Value = str | int | float | bool | None
Record = dict[str, Value]
PART = "part."


class Trace:
    """The records of a training, such as one per epoch.

    Each record is also passed to `listener`, for example a log. Between records, `watcher` is called with a label and
    the share of the total work that is done, 0 to 1.
    """

    def __init__(
        self,
        listener: Callable[[Record], None] | None = None,
        *,
        watcher: Callable[[str, float], None] | None = None,
    ) -> None:
        self.records: list[Record] = []
        self._listener = listener
        self._watcher, self._done = watcher, 0.0

    def __call__(self, **record: Value) -> None:
        """Add a record, e.g. `trace(epoch=3, loss=0.12, dev_mrr=0.61)`."""
        self.records.append(record)
        if self._listener:
            self._listener(record)

    def progress(self, label: str, *, counts: bool = True) -> Callable[[float, float], None]:
        """A function to call with the amount of work done and the total amount (see `span`).

        With counts=False only the label is shown, and the share does not change.
        """

        def report(done: float, total: float) -> None:
            if counts:
                self._done = done / total
            if self._watcher:
                self._watcher(label, self._done)

        return report

    def span(self, begin: float, end: float) -> Trace:
        """The same trace for one part of the work; its progress from 0 to 1 is shown as `begin` to `end`."""
        return _Span(self, begin, end)

    def within(self, **values: Value) -> Trace:
        """The same trace for one part of the work, such as a round: its records have these values too.

        A value of the part with one of these names is recorded as part.NAME.
        """
        return _Part(self, values)

    def write(self, path: Path) -> None:
        """The records as JSON lines."""
        path.write_text("".join(to_json(record) + "\n" for record in self.records), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Trace:
        """The inverse of `write`."""
        trace = cls()
        if not path.exists():
            return trace
        try:
            lines = path.read_bytes().decode().split("\n")
        except (OSError, ValueError) as error:
            raise AlignmentError(f"{path}: cannot be read: {error_text(error)}; align again") from error
        for number, line in enumerate(lines[: -1 if lines[-1] == "" else None], 1):
            try:
                trace.records.append(from_json(line))
                check_type(trace.records[-1], Record)
            except ValueError as error:
                raise AlignmentError(f"{path}, line {number}: damaged: {error}; align again") from error
        return trace


class _Span(Trace):
    """The result of `Trace.span`."""

    def __init__(self, whole: Trace, begin: float, end: float) -> None:
        super().__init__()
        self.records = whole.records
        self._whole, self._begin, self._length = whole, begin, end - begin

    def __call__(self, **record: Value) -> None:
        self._whole(**record)

    def progress(self, label: str, *, counts: bool = True) -> Callable[[float, float], None]:
        report = self._whole.progress(label, counts=counts)
        return lambda done, total: report(self._begin + self._length * done / total, 1)


class _Part(Trace):
    """The result of `Trace.within`."""

    def __init__(self, whole: Trace, values: Record) -> None:
        super().__init__()
        self.records = whole.records
        self._whole, self._values = whole, values

    def __call__(self, **record: Value) -> None:
        conflicts = {name: name.rpartition(PART)[2] in self._values for name in record}
        self._whole(**self._values, **{f"{PART}{name}" if conflicts[name] else name: record[name] for name in record})

    def progress(self, label: str, *, counts: bool = True) -> Callable[[float, float], None]:
        described = "".join(f"{name} {value}: " for name, value in self._values.items())
        return self._whole.progress(described + label, counts=counts)
