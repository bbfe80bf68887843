"""Run all speed benchmarks in turn, and print one table of their figures and targets.

    python benchmarks/speed.py [--only NAME ...] [--scaling FILE.jsonl] [--small] [--history FILE.jsonl] [--threads 2]
        [--repeat 3] [--json]

Each benchmark is a script in this folder, run in a subprocess with its defaults. Its docstring says what it compares.
Benchmarks that need the data of BILEX_SHARED are skipped, with the reason, if the data are missing. --scaling also runs
the scaling study, which saves its points in the given file and is resumed from it. --history appends a line to a file:
date, machine, versions and all figures. The line is written after the first benchmark and updated after each further
one. --small uses small sizes as a smoke test: the figures then mean nothing, and no target is checked.

The exit code is 1 if a target is missed or a benchmark fails. At full size it takes an hour and a half.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.search import bfloat16, int8
from measuring import make_parser, parse_arguments, read_lines, time_call, write_lines
from open_directions import missing_data_reason

if TYPE_CHECKING:
    import argparse

FOLDER = Path(__file__).parent
SMALL_OPTIONS = {
    "topk": "--queries 200 --keys 3000 --dim 20",
    "read_tables": "--words 500 --dim 20",
    "training_step": "--words 300 --dim 10 --batch 8",
    "exact_csls": "--words 500 --queries 50",
    "induction": "--words 500",
    "dense_numpy": "--words 500 --rounds 1 --methods rcsls,procrustes_refinement",
    "paper_scale": "--words 500 --methods vecmap",
    "scaling": "--words 500 --axes words --methods procrustes --among 500",
}
"""All benchmarks in order, with their options for small sizes. VecMap unsupervised and RAPO are slow at any size."""
FULL_OPTIONS = {"paper_scale": "--methods vecmap,rapo,rapo_semi"}
"""Options at full size that differ from the defaults."""
WITHOUT_DATA = ("topk", "read_tables", "training_step")
"""Benchmarks that need no data."""
NOT_REPEATED = ("paper_scale", "scaling")
"""Benchmarks that are run only once."""


def main() -> int:
    """Run the benchmarks, and print the table."""
    parser = make_parser(__doc__)
    parser.add_argument("--only", action="append", choices=SMALL_OPTIONS, metavar="NAME", help=", ".join(SMALL_OPTIONS))
    parser.add_argument("--scaling", type=Path, metavar="FILE", help="the scaling study, with its points in this file")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--history", type=Path, metavar="FILE")
    args = parse_arguments(parser)
    names = [name for name in args.only or SMALL_OPTIONS if name != "scaling" or args.scaling or args.only]
    record: dict[str, Any] = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "small": args.small}
    record |= {"machine": machine(args.threads), "measured": {}}
    history = read_lines(args.history) if args.history else []
    for name in names:
        record["measured"][name] = found = run(name, args)
        if args.history:
            write_lines(args.history, [*history, record])
        if not args.json:
            print_part(name, found)
    if args.json:
        print(json.dumps(record))
    measured = record["measured"].values()
    missed = any(not target["met"] for found in measured for target in found.get("targets", []))
    return int(any("failed" in found for found in measured) or (missed and not args.small))


def run(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """The figures of one benchmark, or why there are none."""
    if name not in WITHOUT_DATA and (reason := missing_data_reason()):
        return {"skipped": reason}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, FOLDER / f"{name}.py"]
        command += [args.scaling or Path(folder) / "points.jsonl"] if name == "scaling" else []
        command += [
            "--threads",
            str(args.threads),
            "--json",
            *(SMALL_OPTIONS if args.small else FULL_OPTIONS).get(name, "").split(),
        ]
        command += [] if name in NOT_REPEATED else ["--repeat", str(args.repeat)]
        print(f"running {name}", file=sys.stderr, flush=True)
        done, seconds = time_call(lambda: subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False))
    try:
        return {**json.loads(done.stdout), "measured in (s)": round(seconds, 1)}
    except ValueError:
        return {"failed": f"{name} ended with code {done.returncode} and left no figures"}


def print_part(name: str, found: dict[str, Any]) -> None:
    """Print the rows of one benchmark."""
    for state in ("skipped", "failed"):
        if state in found:
            print(f"{name:16}{state}: {found[state]}", flush=True)
    for target in found.get("targets", []):
        verdict = "met" if target["met"] else "MISSED"
        print(f"{name:16}{target['what']:58}{target['value']:>10.3g}   {target['wanted']:16}{verdict}", flush=True)


def machine(threads: int) -> dict[str, Any]:
    """Date, machine and versions."""
    described = {"cpu": cpu(), "platform": platform.platform(), "threads": threads, "python": platform.python_version()}
    described["low precision"] = {"int8": int8.is_native(), "bfloat16": bfloat16.is_native()}
    return described | {name: version(name) for name in ("torch", "numpy", "polars")} | {"commit": commit()}


def cpu() -> str:
    """The model of the processor, if the system tells."""
    told = Path("/proc/cpuinfo")
    said = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    models = [line.split(":", 1)[1].strip() for line in said if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def commit() -> str | None:
    """The current commit, marked if there are uncommitted changes. None outside of a git checkout."""
    command = ["git", "-C", str(FOLDER), "describe", "--always", "--dirty", "--abbrev=12", "--exclude", "*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


if __name__ == "__main__":
    raise SystemExit(main())
