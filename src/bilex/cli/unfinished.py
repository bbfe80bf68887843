"""An unfinished run: the folder RUN.partial with the checkpoints. Only one process uses it at a time."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bilex.cli import options
from bilex.cli.interruption import note_on_interruption, this_command
from bilex.errors import AlignmentError
from bilex.run.files import FOLD_FILES, check_unfinished
from bilex.run.provenance import INPUTS, begin, check_same, is_same, read
from bilex.storage.disk import format_bytes, free_bytes, require_disk_space
from bilex.storage.files import remove_folder, remove_stale_files
from bilex.storage.lock import LOCK_FILE, exclusive_lock
from bilex.training.checkpoint import CHECKPOINT, Checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.fitting.inputs import Inputs

PEAK_FACTOR = 3
"""During training, a run and its checkpoints take at most this many times the size of its tables."""


def check_free(output: Path, partial: Path, *, resume: bool, force: bool) -> None:
    """Refuse a folder with a run, with an unfinished run, or in use by another process, before any work is done."""
    check_unfinished(partial, (INPUTS, LOCK_FILE, *(path.name for path in _saved(partial))))
    if partial.is_dir():
        with exclusive_lock(partial / LOCK_FILE):
            pass
    if force or not resume:
        _refuse_existing(output, None if resume else partial, force=force)


def is_begun(partial: Path) -> bool:
    """Whether there is something to continue from: a checkpoint of the training, or a fold of the second stage."""
    return any(path.exists() for path in _saved(partial))


def _saved(partial: Path) -> list[Path]:
    """The checkpoint, which need not exist, and the finished folds."""
    return [partial / CHECKPOINT, *sorted(partial.glob(FOLD_FILES))]


def _refuse_existing(output: Path, partial: Path | None, *, force: bool) -> None:
    if output.exists():
        from bilex.run.folder import check_free

        check_free(output, replace=force)
    if partial is not None and is_begun(partial):
        raise AlignmentError(f"{partial} is from a run that was interrupted; continue it with --resume, or remove it")


def is_finished(output: Path, partial: Path, inputs: Inputs, *, force: bool) -> bool:
    """Whether this run exists already. A run of other inputs is refused, or replaced with `force`."""
    if not output.exists() or (force and is_begun(partial)):
        return False
    from bilex.run.folder import describe

    existing = describe(output)["inputs"]
    if force and not is_same(inputs.describe(), existing):
        return False
    check_same(inputs.describe(), existing, output)
    return True


def check_room(output: Path, inputs: Inputs) -> None:
    """Refuse a run that does not fit on the disk; warn if the checkpoints may not fit."""
    needed, free = inputs.least_bytes, free_bytes(output)
    require_disk_space(output, needed, "the run")
    if free < PEAK_FACTOR * needed:
        options.warn(
            f"{output} will take {format_bytes(needed)}, and its checkpoints up to "
            f"{format_bytes((PEAK_FACTOR - 1) * needed)} more during training; {format_bytes(free)} are free"
        )


@contextmanager
def checkpoint(partial: Path, output: Path, inputs: Inputs, *, resume: bool, force: bool) -> Iterator[Checkpoint]:
    """A checkpoint in the locked folder `partial`, which is removed when the training is complete.

    The folder is also removed after an interruption before the first checkpoint, as nothing was saved.
    """
    saved = Checkpoint(partial, warn=options.warn)
    with exclusive_lock(partial / LOCK_FILE), note_on_interruption(lambda: _how_to_continue(partial, saved)):
        try:
            _refuse_existing(output, None if resume else partial, force=force)
            _begin(partial, inputs)
            yield saved
        except BaseException:
            if not is_begun(partial):
                remove_folder(partial)
            raise
        remove_folder(partial)


def _begin(partial: Path, inputs: Inputs) -> None:
    """Continue a run of the same inputs, or begin."""
    remove_stale_files(partial)
    if is_begun(partial):
        check_same(inputs.describe(), read(partial / INPUTS, again="align"), partial)
        options.say(f"continuing from {partial}")
    else:
        begin(partial, inputs.describe())


def _how_to_continue(partial: Path, checkpoint: Checkpoint) -> str:
    if not is_begun(partial):
        return "no checkpoint was saved"
    reached = {name.rpartition(".")[2]: value for name, value in (checkpoint.last or {}).items()}
    places = [f"{name} {reached[name]}" for name in ("round", "epoch") if name in reached]
    return f"to continue from {', '.join(places) or partial}, run{this_command('--resume')}"
