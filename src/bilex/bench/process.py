"""Processes of cells: run one, or several in parallel on this machine."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

from bilex.bench.cell import RESULT
from bilex.bench.results import Cell, read_cell
from bilex.errors import ResultsError
from bilex.parallel.process import run_module, side_by_side

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from bilex.bench.task import Task
    from bilex.parallel.process import Live

KEY = "key"


def run_side_by_side(tasks: list[Task], folder: Path, *, jobs: int) -> Generator[tuple[Task, Cell]]:
    """The results, in order of completion. Each cell has its own subfolder. Closing the generator ends all cells."""

    def run(task: Task, live: Live) -> Cell:
        return run_process(task, folder / task.name, live)

    with closing(side_by_side(run, tasks, jobs=jobs)) as results:
        for number, cell in results:
            yield tasks[number], cell


def run_process(task: Task, folder: Path, live: Live | None = None) -> Cell:
    """Run a cell in its own process. If it writes no result, the result is an error that says how the process ended."""
    _make_folder(task, folder)
    ending = run_module("bilex.bench.cell", task.to_json(), folder, threads=task.threads, live=live)
    try:
        return read_cell(folder / RESULT)
    except ResultsError:
        return task.result("error", ending)


def _make_folder(task: Task, folder: Path) -> None:
    """Make the folder of a cell. Files of a cell with another key and an old result are deleted."""
    key = folder / KEY
    if folder.exists() and not (key.is_file() and key.read_text(encoding="utf-8") == task.key):
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).unlink(missing_ok=True)
    key.write_text(task.key, encoding="utf-8")
