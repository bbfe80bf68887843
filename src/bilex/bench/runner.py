"""Run a suite. Finished cells are not repeated, and an interruption loses at most one epoch."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bilex.bench.estimate import estimate
from bilex.bench.inputs import Store
from bilex.bench.needs import check_needs
from bilex.bench.process import run_side_by_side
from bilex.bench.results import Cell, read_cell, read_suite, write_cell, write_json
from bilex.bench.task import Task
from bilex.errors import ResultsError, SettingsError, SuiteError
from bilex.storage.disk import require_disk_space
from bilex.storage.lock import LOCK_FILE, exclusive_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from os import PathLike

    from bilex.bench.estimate import Estimate
    from bilex.bench.suite import Planned, Suite


CELL_BYTES = 50_000
"""Estimated upper bound of the size of a result."""


class Progress(NamedTuple):
    """The number of finished cells, and the latest result."""

    done: int
    all: int
    name: str
    cell: Cell
    left: Estimate
    """For all cells that are not finished."""


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
    """Run all cells of a suite, or the given ones, and return their results, old and new, in order.

    `jobs` cells run in parallel with `threads` each. With `cluster` (an address, or "local") they run on Ray, as many
    as it has room for. A cell is not run again if the folder has its result with the same key, done or failed. Cells
    with the same key, such as the default in each curve of a sensitivity, are run once.
    """
    for name, number in (("jobs", jobs), ("threads", threads)):
        if number < 1:
            raise SettingsError(f"{name}={number}; needed a whole number of at least 1")
    wanted, place = list(suite.cells() if cells is None else cells), Path(folder)
    check_needs(wanted)
    if cluster is not None:
        from bilex.parallel.cluster import import_ray

        import_ray()
    with exclusive_lock(place / LOCK_FILE):  # two runs would use the same checkpoints
        _write_suite(suite, place)
        store = store or Store()
        tasks = [Task.make(cell, store, threads=threads, device=device) for cell in wanted]
        found = {task.name: cell for task in tasks if (cell := known(place, task.name, task.key)) is not None}
        missing = [task for task in tasks if task.name not in found]
        require_disk_space(place, len(missing) * CELL_BYTES, f"{len(missing)} results")
        with_key: dict[str, list[Task]] = {}
        for task in missing:
            with_key.setdefault(task.key, []).append(task)
        once = [same[0] for same in with_key.values()]
        with closing(_results(once, place, jobs=jobs, cluster=cluster)) as results:
            for task, cell in results:
                for same in with_key[task.key]:
                    found[same.name] = same.labelled(cell)
                    _save(place, same, found[same.name])
                if tell is not None:
                    left = estimate((t for t in once if t.name not in found), found.values(), jobs=jobs)
                    tell(Progress(len(found), len(tasks), task.name, cell, left))
    return [found[task.name] for task in tasks]


def known(folder: Path, name: str, key: str | None = None) -> Cell | None:
    """The result of a cell; with `key` only if it has this key and need not be run again."""
    path = folder / "cells" / f"{name}.json"
    try:
        cell = read_cell(path) if path.is_file() else None
    except ResultsError:  # a damaged result is computed again
        return None
    if cell is None or key is None:
        return cell
    return cell if cell.key == key and cell.status in ("done", "failed") else None


def to_run(folder: Path, cell: Planned, store: Store) -> bool | None:
    """Whether this cell has to be run; None if its data are missing or not converted, so that this is not known.

    store: one that does not convert.
    """
    result = known(folder, cell.name)
    if result is None or result.status == "error":
        return True
    try:
        key = Task.make(cell, store, threads=1, device="cpu").key
    except SuiteError:
        return None
    return result.key != key


def _results(tasks: list[Task], folder: Path, *, jobs: int, cluster: str | None) -> Generator[tuple[Task, Cell]]:
    if cluster is None or not tasks:
        return run_side_by_side(tasks, folder / "partial", jobs=jobs)
    from bilex.bench.cluster import run_on_cluster

    return run_on_cluster(tasks, cluster, jobs=jobs)


def _save(folder: Path, task: Task, cell: Cell) -> None:
    """Write the result, and delete the checkpoints unless the cell ended with an error."""
    write_cell(folder / "cells" / f"{task.name}.json", cell)
    if cell.status != "error":
        shutil.rmtree(folder / "partial" / task.name, ignore_errors=True)


def _write_suite(suite: Suite, folder: Path) -> None:
    if (folder / "suite.json").is_file() and (name := read_suite(folder).get("name")) != suite.name:
        raise SuiteError(
            f"{folder} has results of the suite {name}, but this is the suite {suite.name}; choose another folder"
        )
    write_json(folder / "suite.json", suite.describe())
