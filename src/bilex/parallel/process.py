"""Work in processes of its own: one started and waited for, and several side by side on this machine.

Each is `python -m MODULE FOLDER`. It reads its task, a line of JSON, from standard input, leaves its result and its log
in FOLDER, and ends when its standard input does: then whoever started it is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")
LOG = "log.txt"
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


def side_by_side(
    function: Callable[[Item, Live], Result], items: Sequence[Item], *, jobs: int
) -> Generator[tuple[int, Result]]:
    """What `run_module` makes of items in `function`, `jobs` at a time: results as they come, with the item's number.

    Whoever stops asking ends them all.
    """
    live = Live()
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(function, item, live): number for number, item in enumerate(items)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            live.end()


def run_module(module: str, line: str, folder: Path, *, threads: int, live: Live | None = None) -> str:
    """Run a module on a task in a folder that exists. Gives back how it ended, for the case that it left no result."""
    live = live or Live()
    with (folder / LOG).open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", module, folder],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            text=True,
            env={**os.environ, **thread_variables(threads)},
            start_new_session=True,  # Ctrl-C is for whoever has started it
        )
        live.add(process)
        try:
            _tell(process, line)
            process.wait()
        finally:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            live.remove(process)
    said = (folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    return "; its last words: ".join([_ending(process.returncode), *said])


def thread_variables(threads: int) -> dict[str, str]:
    """What to set in the environment of a process for so many threads; libraries look there when they are loaded."""
    return dict.fromkeys(_THREADS, str(threads))


def receive() -> tuple[str, Path]:
    """In the process itself: its task and its folder; from here on it ends with whoever has started it."""
    line, folder = sys.stdin.readline(), Path(sys.argv[1])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    return line, folder


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def _tell(process: subprocess.Popen[str], line: str) -> None:
    """Hand over the task; standard input stays open, for its end is the end of the process."""
    with contextlib.suppress(OSError):  # it has died already, and how is told in the end
        process.stdin.write(f"{line}\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]


def _ending(code: int) -> str:
    if code >= 0:
        return f"the process ended with code {code} and left no result"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    reason = ", as it is when memory runs out" if name == "SIGKILL" else ""
    return f"the process was ended by signal {-code} ({name}){reason}"
