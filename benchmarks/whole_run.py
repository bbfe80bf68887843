"""Complete commands, from the shell to their result, in this version and in an earlier one.

    git worktree add ../before v0.1.0
    python benchmarks/whole_run.py --before ../before/src [--methods rapo,rapo_semi,rapo_unsupervised]
        [--direction en-fi] [--words N] [--threads 2] [--repeat 3] [--json]

`bilex align` reads two .vec files and a train dictionary, and writes a run folder. This version does so without the
second stage, which earlier ones do not have. Versions alternate, and the best of
several runs counts, in seconds of wall-clock time and of CPU time (of all threads). Both versions run with the
libraries of this environment. Also measured, in this version: `align --fast`, `bilex translate` of one word in the run,
and `bilex --help`. Without --before there is nothing to compare with, and only seconds are told.

The exit code is 1 if a run takes more than a third of the time of the other version, or `align --fast` more than 10,
`translate` more than 1.5, `--help` more than 0.15 seconds of CPU time.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from measuring import Target, make_parser, parse_arguments, report
from open_directions import DIRECTIONS

if TYPE_CHECKING:
    import argparse

SOURCES = Path(__file__).parents[1] / "src"
WITHOUT_DICTIONARY = ("rapo_unsupervised",)
WORD = 500
"""The word that is translated, by its rank."""
MAX_RATIO = 1 / 3
MAX_CPU = {"align --fast": 10.0, "translate": 1.5, "--help": 0.15}


class Seconds(NamedTuple):
    """Of one command: wall-clock time, and CPU time of all threads."""

    wall: float
    cpu: float


def main() -> int:
    """Time all commands, and print the figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--before", type=Path, metavar="SRC", help="the folder src of another version")
    parser.add_argument("--methods", default="rapo,rapo_semi,rapo_unsupervised")
    parser.add_argument("--direction", default="en-fi", choices=DIRECTIONS)
    parser.add_argument("--words", type=int, help="only so many of each table")
    args = parse_arguments(parser)
    with tempfile.TemporaryDirectory() as folder:
        return report(*measure(Path(folder), args), args)


def measure(folder: Path, args: argparse.Namespace) -> tuple[dict[str, Any], list[Target]]:
    """The figures of all commands, and the targets."""
    inputs = write_inputs(folder, args)
    figures: dict[str, Any] = {"direction": args.direction, "threads": args.threads}
    targets = []
    for method in args.methods.split(","):
        given = [] if method in WITHOUT_DICTIONARY else ["--train", "train.txt"]
        command = ["align", *inputs, *given, "--method", method, "--output", "RUN"]
        best = alternating(folder, command, args)
        for version, seconds in best.items():
            figures[f"{method}, {version} (s)"] = round(seconds.wall, 1)
            figures[f"{method}, {version} (CPU s)"] = round(seconds.cpu, 1)
        if len(best) == 2:
            ratio = best["now"].wall / best["before"].wall
            targets.append(Target(f"{method}: now / before", round(ratio, 3), at_most=MAX_RATIO))
    others = {
        "align --fast": ["align", *inputs, "--train", "train.txt", "--fast", "--vectors-only", "--output", "RUN"],
        "translate": ["translate", "fast", DIRECTIONS[args.direction].load()[0].words[WORD]],
        "--help": ["--help"],
    }
    for name, command in others.items():
        runs = [timed(folder, SOURCES, command) for _ in range(args.repeat)]
        cpu = round(min(run.cpu for run in runs), 3)
        targets.append(Target(f"{name}: CPU seconds", cpu, at_most=MAX_CPU[name]))
        if name == "align --fast":
            (folder / "RUN").rename(folder / "fast")
    return figures, targets


def write_inputs(folder: Path, args: argparse.Namespace) -> list[str]:
    """Write both tables and the train dictionary; returns the names of the tables."""
    direction = DIRECTIONS[args.direction]
    names = [f"{direction.source}.vec", f"{direction.target}.vec"]
    for name, table in zip(names, direction.load(), strict=True):
        (table if args.words is None else table.head(args.words)).write(folder / name)
    direction.train().write(folder / "train.txt")
    return names


def alternating(folder: Path, command: list[str], args: argparse.Namespace) -> dict[str, Seconds]:
    """The best times of a command in each version; they take turns."""
    versions = {"before": args.before} if args.before else {}
    best: dict[str, Seconds] = {}
    for _ in range(args.repeat):
        for version, sources in {**versions, "now": SOURCES}.items():
            found = timed(folder, sources, [*command, *([] if version == "before" else ["--vectors-only"])])
            best[version] = Seconds(*map(min, zip(found, best.get(version, found), strict=True)))
            print(version, command[-4:], found, file=sys.stderr, flush=True)
    return best


def timed(folder: Path, sources: Path, command: list[str]) -> Seconds:
    """Seconds of one command, with the sources of one version. A run folder of an earlier command is replaced."""
    environment = {**os.environ, "PYTHONPATH": str(sources.resolve())}
    replace = ["--force"] if (folder / "RUN").exists() and "RUN" in command else []
    before, started = cpu_seconds(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "bilex", *command, *replace],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
    )
    return Seconds(time.perf_counter() - started, cpu_seconds() - before)


def cpu_seconds() -> float:
    """CPU time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
