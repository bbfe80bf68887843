"""What a method says while it works, and what it needs to go on after an interruption."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from bilex.errors import AlignmentError, CheckpointError, described, reason
from bilex.run.files import check_inside
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.storage.disk import why
from bilex.storage.strict_json import check_form, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from torch import Tensor

Value = str | int | float | bool | None
Record = dict[str, Value]
CHECKPOINT = "checkpoint.safetensors"
PART = "part."


class State(NamedTuple):
    """All that a method needs to go on from where it was: arrays and plain values."""

    arrays: dict[str, Tensor]
    values: Record
    file: Path | None = None

    def inner(self) -> State | None:
        """The state of the part (`Trace.within`) that was being worked on, if it had kept one."""
        arrays = {name.removeprefix(PART): a for name, a in self.arrays.items() if name.startswith(PART)}
        values = {name.removeprefix(PART): v for name, v in self.values.items() if name.startswith(PART)}
        return State(arrays, values, self.file) if values else None

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """What goes wrong while a method takes its state over is that it is not one of this method, or damaged."""
        try:
            yield
        except (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            name, folder = (self.file, self.file.parent) if self.file else ("the checkpoint", "it")
            raise CheckpointError(
                f"{name}: damaged, or of another method ({described(error)}); remove {folder} and align again"
            ) from error


class Trace:
    """Keeps the records it is called with, and passes each on to a listener (a log, say), what is going on between
    them to a watcher (a progress display: a label, and the share of the whole work that is done, 0 to 1).

    With a folder it also keeps the last state that a method handed to `checkpoint`, and finds it there again. If that
    cannot be written, `warn` is told so once, and the work goes on: there is still time to make room.
    """

    def __init__(
        self,
        listener: Callable[[Record], None] | None = None,
        *,
        watcher: Callable[[str, float], None] | None = None,
        folder: Path | None = None,
        warn: Callable[[str], None] = warnings.warn,
    ) -> None:
        self.records: list[Record] = []
        self.kept: Record | None = None
        """The plain values of the last state in the folder, as far as it was written or read here."""
        self._listener = listener
        self._watcher, self._done = watcher, 0.0
        self._folder = folder
        self._warn, self._warned = warn, False

    def __call__(self, **record: Value) -> None:
        """Take one record, e.g. `trace(epoch=3, loss=0.12, dev_mrr=0.61)`."""
        self.records.append(record)
        if self._listener:
            self._listener(record)

    def progress(self, label: str, *, counts: bool = True) -> Callable[[float, float], None]:
        """Something to call with how much of the work is done, and how much there is (see `span`).

        What does not count shows its label, and the share that is done stays where it is.
        """

        def tell(done: float, total: float) -> None:
            if counts:
                self._done = done / total
            if self._watcher:
                self._watcher(label, self._done)

        return tell

    def span(self, begin: float, end: float) -> Trace:
        """The same trace, for a piece of work that is this part of the whole: 0 and 0.5 for its first half.

        The piece tells its own progress from 0 to 1.
        """
        return _Span(self, begin, end)

    def checkpoint(self, arrays: dict[str, Tensor], **values: Value) -> None:
        """Keep a state, whole or not at all, with the records up to it; nothing is done without a folder."""
        if self._folder is None:
            return
        notes = {"values": to_json(values), "records": to_json(self.records)}
        try:
            write_arrays(self._folder / CHECKPOINT, arrays, notes)
        except OSError as error:
            if not self._warned:
                self._warn(f"{error.filename}: {why(error)}; until then an interruption loses what is being learnt")
            self._warned = True
        else:
            self.kept, self._warned = values, False

    def restore(self) -> State | None:
        """The state kept last, if there is one; the records up to it are there again too."""
        if self._folder is None or not (path := self._folder / CHECKPOINT).exists():
            return None
        try:
            check_inside(self._folder, [path])
            arrays, notes = read_arrays(path)
            records, kept = (from_json(notes[name]) for name in ("records", "values"))
            check_form(records, list[Record])
            check_form(kept, Record)
        except (AlignmentError, OSError, ValueError, KeyError) as error:
            raise CheckpointError(
                f"{path}: cannot be read: {reason(error)}; remove {self._folder} and align again"
            ) from error
        self.records[:], self.kept = records, kept
        return State(arrays, dict(kept), path)

    def within(self, arrays: dict[str, Tensor], *, state: State | None = None, **values: Value) -> Trace:
        """For one part of a longer piece of work, such as a round: a trace to hand to the method that does it.

        Its records have the values (its own of the same name are called part.NAME), its checkpoints the arrays and
        values too; it finds `state`, if that is given.
        """
        return _Part(self, arrays, values, state)

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
            raise AlignmentError(f"{path}: cannot be read: {reason(error)}; align again") from error
        for number, line in enumerate(lines[: -1 if lines[-1] == "" else None], 1):
            try:
                trace.records.append(from_json(line))
                check_form(trace.records[-1], Record)
            except ValueError as error:
                raise AlignmentError(f"{path}, line {number}: damaged: {error}; align again") from error
        return trace


class _Span(Trace):
    """What `Trace.span` gives."""

    def __init__(self, whole: Trace, begin: float, end: float) -> None:
        super().__init__()
        self.records = whole.records
        self._whole, self._begin, self._length = whole, begin, end - begin

    def __call__(self, **record: Value) -> None:
        self._whole(**record)

    def progress(self, label: str, *, counts: bool = True) -> Callable[[float, float], None]:
        tell = self._whole.progress(label, counts=counts)
        return lambda done, total: tell(self._begin + self._length * done / total, 1)

    def checkpoint(self, arrays: dict[str, Tensor], **values: Value) -> None:
        self._whole.checkpoint(arrays, **values)

    def restore(self) -> State | None:
        return self._whole.restore()


class _Part(Trace):
    """What `Trace.within` gives."""

    def __init__(self, whole: Trace, arrays: dict[str, Tensor], values: Record, state: State | None) -> None:
        super().__init__()
        self.records = whole.records
        self._whole, self._arrays, self._values, self._state = whole, arrays, values, state

    def __call__(self, **record: Value) -> None:
        taken = {name: name.rpartition(PART)[2] in self._values for name in record}
        self._whole(**self._values, **{f"{PART}{name}" if taken[name] else name: record[name] for name in record})

    def progress(self, label: str, *, counts: bool = True) -> Callable[[float, float], None]:
        described = "".join(f"{name} {value}: " for name, value in self._values.items())
        return self._whole.progress(described + label, counts=counts)

    def checkpoint(self, arrays: dict[str, Tensor], **values: Value) -> None:
        own = {f"{PART}{name}": array for name, array in arrays.items()}
        self._whole.checkpoint(
            {**self._arrays, **own}, **self._values, **{f"{PART}{name}": value for name, value in values.items()}
        )

    def restore(self) -> State | None:
        return self._state
