"""A run while it is made: RUN.partial with its checkpoints, on which one process works at a time."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bilex.cli import options
from bilex.cli.interruption import telling, this_command
from bilex.errors import AlignmentError
from bilex.run.files import check_unfinished
from bilex.run.provenance import INPUTS, begin, check_same, is_same, read
from bilex.storage.disk import format_bytes, free_bytes, require_disk_space
from bilex.storage.files import remove_folder, remove_stale_files
from bilex.storage.lock import LOCK_FILE, exclusive_lock
from bilex.training.checkpoint import CHECKPOINT, Checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.fitting.inputs import Inputs

CHECKPOINTS = 3
"""With its checkpoints a run takes so many times its tables while it is made, at most."""


def check_free(output: Path, partial: Path, *, resume: bool, force: bool) -> None:
    """Refuse a place that is taken, by a run, the beginnings of one or another process, before any work is done."""
    check_unfinished(partial, (INPUTS, CHECKPOINT, LOCK_FILE))
    if partial.is_dir():
        with exclusive_lock(partial / LOCK_FILE):
            pass
    if force or not resume:
        _refuse_taken(output, None if resume else partial, force=force)


def _refuse_taken(output: Path, partial: Path | None, *, force: bool) -> None:
    if output.exists():
        from bilex.run.folder import check_free

        check_free(output, replace=force)
    if partial is not None and (partial / CHECKPOINT).exists():
        raise AlignmentError(f"{partial} was left by a run that was interrupted: go on with --resume, or remove it")


def is_finished(output: Path, partial: Path, inputs: Inputs, *, force: bool) -> bool:
    """Whether there is nothing to go on with: the run is there. Another run is refused, or replaced with `force`."""
    if not output.exists() or (force and (partial / CHECKPOINT).exists()):
        return False
    from bilex.run.folder import describe

    there = describe(output)["inputs"]
    if force and not is_same(inputs.describe(), there):
        return False
    check_same(inputs.describe(), there, output)
    return True


def check_room(output: Path, inputs: Inputs) -> None:
    """Refuse what the disk has no room for; say so if it may become too little."""
    needed, free = inputs.least_bytes, free_bytes(output)
    require_disk_space(output, needed, "the run")
    if free < CHECKPOINTS * needed:
        options.warn(
            f"{output} will take {format_bytes(needed)}, and checkpoints while it is made up to "
            f"{format_bytes((CHECKPOINTS - 1) * needed)} more; {format_bytes(free)} are free"
        )


@contextmanager
def checkpoint(partial: Path, output: Path, inputs: Inputs, *, resume: bool, force: bool) -> Iterator[Checkpoint]:
    """A checkpoint in a folder on which one process works; removed when all is done.

    What was interrupted before its first checkpoint is removed too: there is nothing to go on from.
    """
    made = Checkpoint(partial, warn=options.warn)
    with exclusive_lock(partial / LOCK_FILE), telling(lambda: _what_is_saved(partial, made)):
        try:
            _refuse_taken(output, None if resume else partial, force=force)
            _begin(partial, inputs)
            yield made
        except BaseException:
            if not (partial / CHECKPOINT).exists():
                remove_folder(partial)
            raise
        remove_folder(partial)


def _begin(partial: Path, inputs: Inputs) -> None:
    """Go on with what was begun from the same inputs, or begin."""
    remove_stale_files(partial)
    if (partial / CHECKPOINT).exists():
        check_same(inputs.describe(), read(partial / INPUTS, again="align"), partial)
        options.say(f"going on from {partial}")
    else:
        begin(partial, inputs.describe())


def _what_is_saved(partial: Path, checkpoint: Checkpoint) -> str:
    if not (partial / CHECKPOINT).exists():
        return "nothing was kept"
    reached = {name.rpartition(".")[2]: value for name, value in (checkpoint.last or {}).items()}
    places = [f"{name} {reached[name]}" for name in ("round", "epoch") if name in reached]
    return f"go on from {', '.join(places) or partial} with{this_command('--resume')}"
