"""What measurements share: options, clocks, peak memory, files, processes of their own, targets, how they report."""

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
    """A figure that should be at most or at least so much; one that is no number misses."""

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether it is."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return self.at_least is None or self.value >= self.at_least

    @property
    def wanted(self) -> str:
        """In words."""
        return f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"what": self.what, "value": self.value, "wanted": self.wanted, "met": self.met}


def options(description: str | None, *, repeat: int | None = 3) -> argparse.ArgumentParser:
    """A parser with what all measurements have: --threads, --json and, unless there is none, --repeat."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print JSON")
    if repeat is not None:
        parser.add_argument("--repeat", type=int, default=repeat, help="the best of so many is told")
    return parser


def begin(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments, in a process whose libraries all have so many threads.

    They take their number from the environment when they are loaded, so where another is set there the program is begun
    again.
    """
    args = parser.parse_args()
    wanted = thread_variables(args.threads)
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **wanted})
    return args


def report(figures: dict[str, Any], targets: Sequence[Target], args: argparse.Namespace) -> int:
    """Print the figures and what was wanted of them; the exit code is 1 where a target is missed."""
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


def seconds(run: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    return timed(run)[1]


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its wall-clock time."""
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def in_full(run: Callable[[], Any]) -> Callable[[], Any]:
    """The same call on a processor without fast products in low precision: all are made in float32."""

    def call() -> Any:
        with mock.patch.object(kernel, "PRECISIONS", ()):
            return run()

    return call


def best_of(repeat: int, runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest wall-clock time of each; they take turns, so that a busy minute hits all of them."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeat):
        for name, run in runs.items():
            best[name] = min(best[name], seconds(run))
    return best


def growth(run: Callable[[], object]) -> int:
    """Bytes by which the resident set grows at most during a call, over what it is before (Linux only)."""
    forget_peak()
    before = peak()
    run()
    return peak() - before


def forget_peak() -> None:
    """Let the peak begin anew, at what is resident now (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Largest resident set so far in bytes. On Linux not ru_maxrss, which a process inherits from its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines; none where there is no file yet."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def lines_of(path: Path, what: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of such a file that have all of this."""
    return [known for known in lines(path) if known.items() >= what.items()]


def add_line(path: Path, record: dict[str, Any]) -> None:
    """Add a record to a file of JSON lines."""
    write_lines(path, [*lines(path), record])


def write_lines(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Make a file of JSON lines anew; it is whole at any time."""
    with atomic_write(path) as temporary:
        temporary.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def own_process(script: str, *arguments: object) -> Any:
    """What a script prints as JSON, run in a process of its own; what it says on standard error passes through."""
    command = [sys.executable, script, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
