"""Helpers for benchmarks: options, timers, peak memory, files of results, subprocesses, targets and reports."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from bilex.parallel.process import thread_variables
from bilex.search import topk as kernel
from bilex.storage.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Target:
    """A figure with a required upper or lower limit. NaN never meets it."""

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether the figure is within the limit."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return self.at_least is None or self.value >= self.at_least

    @property
    def wanted(self) -> str:
        """The limit as text."""
        return f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"

    def to_json(self) -> dict[str, Any]:
        """Plain values, for `--json`."""
        return {"what": self.what, "value": self.value, "wanted": self.wanted, "met": self.met}


def make_parser(description: str | None, *, repeat: int | None = 3) -> argparse.ArgumentParser:
    """A parser with the common options: --threads, --json and, unless `repeat` is None, --repeat."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print JSON")
    if repeat is not None:
        parser.add_argument("--repeat", type=int, default=repeat, help="runs, of which the best counts")
    return parser


def parse_arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the arguments, and make sure that all libraries use the requested number of threads.

    Libraries read the number of threads from the environment when they are loaded. If the environment has another
    number, the program is started again.
    """
    args = parser.parse_args()
    wanted = thread_variables(args.threads)
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **wanted})
    return args


def report(figures: dict[str, Any], targets: Sequence[Target], args: argparse.Namespace) -> int:
    """Print the figures and targets. Returns the exit code, 1 if a target is missed."""
    if args.json:
        print(json.dumps({**figures, "targets": [target.to_json() for target in targets]}))
    else:
        width = 2 + max(map(len, [*figures, *(target.what for target in targets)]))
        for name, value in figures.items():
            print(f"{name:{width}}{f'{value:.4g}' if isinstance(value, float) else value}")
        for target in targets:
            verdict = "met" if target.met else "MISSED"
            print(f"{target.what:{width}}{target.value:.3g}, wanted {target.wanted}: {verdict}")
    return int(not all(target.met for target in targets))


def time_seconds(run: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    return time_call(run)[1]


def time_call(run: Callable[[], Any]) -> tuple[Any, float]:
    """The result of a call, and its wall-clock time."""
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def without_low_precision(run: Callable[[], Any]) -> Callable[[], Any]:
    """The same call without low precision: all products are computed in float32."""

    def call() -> Any:
        with mock.patch.object(kernel, "PRECISIONS", ()):
            return run()

    return call


def best_of(repeat: int, runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest wall-clock time of each call. Calls alternate, so that other load affects all of them."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeat):
        for name, run in runs.items():
            best[name] = min(best[name], time_seconds(run))
    return best


def memory_growth(run: Callable[[], object]) -> int:
    """Peak growth of the resident set during a call, in bytes (Linux only)."""
    reset_peak_memory()
    before = peak_memory()
    run()
    return peak_memory() - before


def reset_peak_memory() -> None:
    """Reset the recorded peak memory to the current resident set (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Peak resident set in bytes. On Linux not from ru_maxrss, which a process inherits from its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSON lines file. Empty if the file does not exist."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def matching_lines(path: Path, what: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of a JSON lines file that have all given values."""
    return [known for known in read_lines(path) if known.items() >= what.items()]


def add_line(path: Path, record: dict[str, Any]) -> None:
    """Append a record to a JSON lines file."""
    write_lines(path, [*read_lines(path), record])


def write_lines(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write a JSON lines file atomically."""
    with atomic_write(path) as temporary:
        temporary.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def run_script(script: str, *arguments: object) -> Any:
    """Run a script in a subprocess, and return its JSON output. Its standard error is passed through."""
    command = [sys.executable, script, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
