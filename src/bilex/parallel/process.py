"""Run work in separate processes: one, or several in parallel on this machine.

Each process is `python -m MODULE FOLDER`. It reads its task, a line of JSON, from standard input, and writes its result
and its log to FOLDER. It exits when its standard input is closed, because then its parent process has ended.
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
    """The running processes, to end them together."""

    processes: set[subprocess.Popen[str]] = field(default_factory=set)
    ended: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, process: subprocess.Popen[str]) -> None:
        """Add a new process. It is killed at once if `end` was called."""
        with self._lock:
            self.processes.add(process)
            if self.ended:
                process.kill()

    def remove(self, process: subprocess.Popen[str]) -> None:
        """Remove a process that has ended."""
        with self._lock:
            self.processes.discard(process)

    def end(self) -> None:
        """Kill all processes."""
        with self._lock:
            self.ended = True
            for process in self.processes:
                process.kill()


def side_by_side(
    function: Callable[[Item, Live], Result], items: Sequence[Item], *, jobs: int
) -> Generator[tuple[int, Result]]:
    """Call `function`, which uses `run_module`, on the items, `jobs` at a time. Yields (number of the item, result).

    The results come in order of completion. Closing the generator kills all processes.
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
    """Run a module on a task in an existing folder. Returns how the process ended, for the case of no result."""
    live = live or Live()
    with (folder / LOG).open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", module, folder],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            text=True,
            env={**os.environ, **thread_variables(threads)},
            start_new_session=True,  # Ctrl-C goes to the parent process only
        )
        live.add(process)
        try:
            _send_task(process, line)
            process.wait()
        finally:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            live.remove(process)
    last_line = (folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    return "; the last line of its log: ".join([_ending(process.returncode), *last_line])


def thread_variables(threads: int) -> dict[str, str]:
    """Environment variables for this number of threads. Libraries read them when they are loaded."""
    return dict.fromkeys(_THREADS, str(threads))


def receive() -> tuple[str, Path]:
    """The task and the folder of this process. From now on, it exits when its parent process ends."""
    line, folder = sys.stdin.readline(), Path(sys.argv[1])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    return line, folder


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def _send_task(process: subprocess.Popen[str], line: str) -> None:
    """Send the task. Standard input stays open, because the process exits when it is closed."""
    with contextlib.suppress(OSError):  # the process has ended already; its exit code is reported later
        process.stdin.write(f"{line}\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]


def _ending(code: int) -> str:
    if code >= 0:
        return f"the process ended with code {code} and left no result"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    reason = ", as happens when memory runs out" if name == "SIGKILL" else ""
    return f"the process was ended by signal {-code} ({name}){reason}"
