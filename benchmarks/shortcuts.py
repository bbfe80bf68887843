"""What the shortcuts of training cost in accuracy: P@1 of RAPO with and without them.

    python benchmarks/shortcuts.py OUTPUT.jsonl [--words 200000] [--methods rapo] [--set KEY=VALUE ...]
        [--rng-seeds 0,1,2] [--threads 2] [--json]

Runs of `paper_scale.py`, as they are and with penalties searched in full before every epoch, which takes up to seven
times as long. Each run is a line of OUTPUT, written when it is done; runs that are in it already are not made again. A
run that was interrupted goes on from its last epoch, from a folder beside OUTPUT that ends in .running, and its seconds
are null. All that is in OUTPUT is told. The exit code is 1 if the mean over the seeds of a method and its settings is
off by more than 0.3 points, either way.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from measuring import Target, add_line, begin, lines, lines_of, options, own_process, report

if TYPE_CHECKING:
    Record = dict[str, Any]

SCRIPT = Path(__file__).with_name("paper_scale.py")
MOST = 0.3


def main() -> int:
    """Make the runs that are missing, compare."""
    parser = options(__doc__, repeat=None)
    parser.add_argument("output", type=Path)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--methods", default="rapo")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--rng-seeds", default="0,1,2")
    args = begin(parser)
    for rng_seed in map(int, args.rng_seeds.split(",")):
        for method in args.methods.split(","):
            for unhurried in (False, True):
                run = {"method": method, "settings": args.settings, "words": args.words, "rng_seed": rng_seed}
                make(args.output, {**run, "unhurried": unhurried, "threads": args.threads})
    return report(*compared(lines(args.output)), args)


def make(output: Path, run: Record) -> None:
    """One run and its line, unless it is there."""
    if lines_of(output, run):
        return
    print("running", run, file=sys.stderr, flush=True)
    arguments = ["--method", run["method"], "--words", run["words"], "--rng-seed", run["rng_seed"]]
    arguments += [text for setting in run["settings"] for text in ("--set", setting)]
    arguments += ["--unhurried"] if run["unhurried"] else []
    arguments += ["--threads", run["threads"]]
    state = output.with_name("-".join(map(str, [output.stem, *arguments])).replace("/", "-") + ".running")
    found = own_process(str(SCRIPT), *arguments, "--checkpoint", state)
    add_line(output, run | {"p_at_1": found["P@1"], "seconds": found.get("all (s)")})
    shutil.rmtree(state, ignore_errors=True)


def compared(runs: list[Record]) -> tuple[dict[str, Any], list[Target]]:
    """P@1 of each seed with and without shortcuts, and the difference of their means, of seeds that have both."""
    figures: dict[str, Any] = {}
    targets = []
    for label in dict.fromkeys(map(_label, runs)):
        pairs = _paired([run for run in runs if _label(run) == label])
        if pairs:
            with_, without = ([pair[unhurried]["p_at_1"] for pair in pairs] for unhurried in (False, True))
            figures[f"{label}: with shortcuts"] = " ".join(f"{value:.2f}" for value in with_)
            figures[f"{label}: without"] = " ".join(f"{value:.2f}" for value in without)
            figures[f"{label}: without, mean"] = round(mean(without), 2)
            figures[f"{label}: mean difference"] = round(mean(with_) - mean(without), 2)
            targets.append(Target(f"{label}: off by", round(abs(mean(with_) - mean(without)), 3), at_most=MOST))
    return figures, targets


def _paired(runs: list[Record]) -> list[dict[bool, Record]]:
    """The two runs of each seed, in order of the seeds."""
    found: dict[int, dict[bool, Record]] = {}
    for run in sorted(runs, key=lambda run: int(run["rng_seed"])):
        found.setdefault(run["rng_seed"], {})[run["unhurried"]] = run
    return [pair for pair in found.values() if len(pair) == 2]


def _label(run: Record) -> str:
    return " ".join([run["method"], *run["settings"], f"{run['words']:,} words"])


if __name__ == "__main__":
    raise SystemExit(main())
