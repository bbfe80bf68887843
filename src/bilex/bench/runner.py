"""Run a suite: what is there already is not done again, and an interruption here loses at most an epoch."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bilex.bench.inputs import Store
from bilex.bench.process import run_side_by_side
from bilex.bench.results import Cell, read_cell, read_suite, write_cell, write_json
from bilex.bench.task import Task
from bilex.errors import ResultsError, SettingsError, SuiteError
from bilex.storage.disk import require_disk_space
from bilex.storage.lock import LOCK_FILE, exclusive_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from os import PathLike

    from bilex.bench.suite import Planned, Suite


CELL_BYTES = 50_000
"""A result takes less, as a rule."""


class Progress(NamedTuple):
    """How far a run has come, and the latest result."""

    done: int
    all: int
    name: str
    cell: Cell


def run(
    suite: Suite,
    folder: str | PathLike[str],
    *,
    cells: Sequence[Planned] | None = None,
    jobs: int = 1,
    threads: int = 1,
    device: str = "auto",
    cluster: str | None = None,
    store: Store | None = None,
    tell: Callable[[Progress], None] | None = None,
) -> list[Cell]:
    """Run all cells of a suite, or those given, and give back their results, old and new, in order.

    `jobs` cells run side by side with `threads` each; with `cluster` (an address, or "local") they run on Ray, as many
    as there is room for. A cell whose result is in the folder, done or failed and with the same key, is not run again.
    """
    for name, number in (("jobs", jobs), ("threads", threads)):
        if number < 1:
            raise SettingsError(f"{name}={number}; needed a whole number of at least 1")
    wanted, place = list(suite.cells() if cells is None else cells), Path(folder)
    check_files(wanted)
    if cluster is not None:
        from bilex.parallel.cluster import import_ray

        import_ray()
    with exclusive_lock(place / LOCK_FILE):  # two would take each other's checkpoints
        _write_suite(suite, place)
        store = store or Store()
        tasks = [Task.make(cell, store, threads=threads, device=device) for cell in wanted]
        there = {task.name: cell for task in tasks if (cell := known(place, task.name, task.key)) is not None}
        missing = [task for task in tasks if task.name not in there]
        require_disk_space(place, len(missing) * CELL_BYTES, f"{len(missing)} results")
        with closing(_results(missing, place, jobs=jobs, cluster=cluster)) as results:
            for task, cell in results:
                _keep(place, task, cell)
                there[task.name] = cell
                if tell is not None:
                    tell(Progress(len(there), len(tasks), task.name, cell))
    return [there[task.name] for task in tasks]


def check_files(cells: Sequence[Planned]) -> None:
    """Refuse to begin where data are missing."""
    for direction in {cell.direction.name: cell.direction for cell in cells}.values():
        for wanted in direction.inputs():
            wanted.find()


def known(folder: Path, name: str, key: str | None = None) -> Cell | None:
    """The result of a cell that need not be run again, if it has the key."""
    path = folder / "cells" / f"{name}.json"
    try:
        cell = read_cell(path) if path.is_file() else None
    except ResultsError:  # damaged: it is made again
        return None
    if cell is None or key is None:
        return cell
    return cell if cell.key == key and cell.status in ("done", "failed") else None


def to_run(folder: Path, cell: Planned, store: Store) -> bool | None:
    """Whether a run would do this cell; None if that cannot be said without its data, or not without converting them.

    store: one that does not convert.
    """
    there = known(folder, cell.name)
    if there is None or there.status == "error":
        return True
    try:
        key = Task.make(cell, store, threads=1, device="cpu").key
    except SuiteError:
        return None
    return there.key != key


def _results(tasks: list[Task], folder: Path, *, jobs: int, cluster: str | None) -> Generator[tuple[Task, Cell]]:
    if cluster is None or not tasks:
        return run_side_by_side(tasks, folder / "partial", jobs=jobs)
    from bilex.bench.cluster import run_on_cluster

    return run_on_cluster(tasks, cluster, jobs=jobs)


def _keep(folder: Path, task: Task, cell: Cell) -> None:
    """Write the result; what the cell needed to go on is needed no more, unless it has not come to an end."""
    write_cell(folder / "cells" / f"{task.name}.json", cell)
    if cell.status != "error":
        shutil.rmtree(folder / "partial" / task.name, ignore_errors=True)


def _write_suite(suite: Suite, folder: Path) -> None:
    if (folder / "suite.json").is_file() and (name := read_suite(folder).get("name")) != suite.name:
        raise SuiteError(f"{folder} has results of the suite {name}, this is {suite.name}; choose another folder")
    write_json(folder / "suite.json", suite.describe())
