"""Checkpoints: the last state of a method, in one file, to resume after an interruption."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from bilex.errors import AlignmentError, CheckpointError, error_text, error_with_type
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.storage.disk import describe_os_error
from bilex.storage.strict_json import check_type, from_json, to_json
from bilex.storage.symlinks import check_inside
from bilex.training.trace import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from torch import Tensor

    from bilex.training.trace import Trace, Value

CHECKPOINT = "checkpoint.safetensors"
PART = "part."
FORMAT = "3"
"""The format of checkpoints. Increase it when a method saves other arrays, or trains differently from the same ones."""


class State(NamedTuple):
    """Arrays and plain values from which a method resumes."""

    arrays: dict[str, Tensor]
    values: Record
    file: Path | None = None

    def inner(self) -> State | None:
        """The state of the interrupted part (`Checkpoint.part`), if it had saved one."""
        arrays = {name.removeprefix(PART): a for name, a in self.arrays.items() if name.startswith(PART)}
        values = {name.removeprefix(PART): v for name, v in self.values.items() if name.startswith(PART)}
        return State(arrays, values, self.file) if values else None

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """Turn any error inside into a CheckpointError: the state is damaged, or of another method."""
        try:
            yield
        except (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            name, folder = (self.file, self.file.parent) if self.file else ("the checkpoint", "it")
            raise CheckpointError(
                f"{name}: damaged, or of another method ({error_with_type(error)}); remove {folder} and align again"
            ) from error


class Checkpoint:
    """Saves the state of a training in a folder, and loads it again; without a folder it does nothing.

    If a state cannot be written, `warn` is called once and the training continues: the user can still free disk space.
    """

    def __init__(self, folder: Path | None = None, *, warn: Callable[[str], None] = warnings.warn) -> None:
        self.last: Record | None = None
        """The values of the last state that was saved or loaded."""
        self._folder = folder
        self._warn, self._warned = warn, False

    def save(self, trace: Trace, arrays: dict[str, Tensor], **values: Value) -> None:
        """Replace the saved state atomically. The records of the trace are saved with it."""
        if self._folder is None:
            return
        notes = {"format": FORMAT, "values": to_json(values), "records": to_json(trace.records)}
        try:
            write_arrays(self._folder / CHECKPOINT, arrays, notes)
        except OSError as error:
            if not self._warned:
                self._warn(
                    f"{error.filename}: {describe_os_error(error)}; until then an interruption loses all "
                    "progress since the last checkpoint"
                )
            self._warned = True
        else:
            self.last, self._warned = values, False

    def load(self, trace: Trace) -> State | None:
        """The saved state, if there is one; its records are restored in the trace."""
        if self._folder is None or not (path := self._folder / CHECKPOINT).exists():
            return None
        try:
            check_inside(self._folder, [path])
            arrays, notes = read_arrays(path)
            if notes.get("format") != FORMAT:
                raise ValueError("it was saved by another version of bilex, which this one cannot continue")
            records, values = (from_json(notes[name]) for name in ("records", "values"))
            check_type(records, list[Record])
            check_type(values, Record)
        except (AlignmentError, OSError, ValueError, KeyError) as error:
            raise CheckpointError(
                f"{path}: cannot be read: {error_text(error)}; remove {self._folder} and align again"
            ) from error
        trace.records[:], self.last = records, values
        return State(arrays, dict(values), path)

    def part(self, arrays: dict[str, Tensor], *, state: State | None = None, **values: Value) -> Checkpoint:
        """A checkpoint for one part of the training, such as a round, to pass to the method of that part.

        The states that it saves contain `arrays` and `values` too. It loads `state`, if that is given.
        """
        return _Part(self, arrays, values, state)


class _Part(Checkpoint):
    """The result of `Checkpoint.part`."""

    def __init__(self, whole: Checkpoint, arrays: dict[str, Tensor], values: Record, state: State | None) -> None:
        super().__init__()
        self._whole, self._arrays, self._values, self._state = whole, arrays, values, state

    def save(self, trace: Trace, arrays: dict[str, Tensor], **values: Value) -> None:
        own = {f"{PART}{name}": array for name, array in arrays.items()}
        inner = {f"{PART}{name}": value for name, value in values.items()}
        self._whole.save(trace, {**self._arrays, **own}, **self._values, **inner)

    def load(self, trace: Trace) -> State | None:  # noqa: ARG002 (the whole has restored the records)
        return self._state


NO_CHECKPOINT = Checkpoint()
"""Nothing is saved."""
