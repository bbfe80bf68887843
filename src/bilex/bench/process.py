"""Processes of cells: one started and waited for, and several side by side on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bilex.bench.cell import RESULT
from bilex.bench.results import Cell, read_cell
from bilex.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from bilex.bench.task import Task

LOG, KEY = "log.txt", "key"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass
class Live:
    """The processes that are running, to be ended together."""

    processes: set[subprocess.Popen[str]] = field(default_factory=set)
    ended: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, process: subprocess.Popen[str]) -> None:
        """A process that has just been started; ended at once if all others are."""
        with self._lock:
            self.processes.add(process)
            if self.ended:
                process.kill()

    def remove(self, process: subprocess.Popen[str]) -> None:
        """A process that has ended."""
        with self._lock:
            self.processes.discard(process)

    def end(self) -> None:
        """End them all."""
        with self._lock:
            self.ended = True
            for process in self.processes:
                process.kill()


def run_side_by_side(tasks: list[Task], folder: Path, *, jobs: int) -> Generator[tuple[Task, Cell]]:
    """The results as they come; each cell has a folder of its own in `folder`. Whoever stops asking ends them all."""
    live = Live()
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(run_process, task, folder / task.name, live): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            live.end()


def run_process(task: Task, folder: Path, live: Live | None = None) -> Cell:
    """Run a cell in a process of its own. One that leaves no result behind has one made that says how it ended."""
    _make_folder(task, folder)
    log = folder / LOG
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "bilex.bench.cell", folder],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            text=True,
            env={**os.environ, **dict.fromkeys(_THREADS, str(task.threads))},
            start_new_session=True,  # Ctrl-C is for whoever has started it
        )
        live = live or Live()
        live.add(process)
        try:
            _tell(process, task.to_json())
            process.wait()
        finally:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            live.remove(process)
    return _result(task, folder, process.returncode)


def _make_folder(task: Task, folder: Path) -> None:
    """The folder of a cell; what is left in it by one with another key, or an old result, is of no use."""
    key = folder / KEY
    if folder.exists() and not (key.is_file() and key.read_text(encoding="utf-8") == task.key):
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).unlink(missing_ok=True)
    key.write_text(task.key, encoding="utf-8")


def _tell(process: subprocess.Popen[str], line: str) -> None:
    """Hand over the task; standard input stays open, for its end is the end of the process."""
    with contextlib.suppress(OSError):  # it has died already, and how is told below
        process.stdin.write(f"{line}\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]


def _result(task: Task, folder: Path, code: int) -> Cell:
    try:
        return read_cell(folder / RESULT)
    except ResultsError:
        said = (folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        return task.result("error", "; its last words: ".join([_ending(code), *said]))


def _ending(code: int) -> str:
    if code >= 0:
        return f"the process ended with code {code} and left no result"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    reason = ", as it is when memory runs out" if name == "SIGKILL" else ""
    return f"the process was ended by signal {-code} ({name}){reason}"
