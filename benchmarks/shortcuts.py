"""The effect of approximate penalties in training on accuracy: P@1 of RAPO with and without them.

    python benchmarks/shortcuts.py OUTPUT.jsonl [--words 200000] [--methods rapo] [--set KEY=VALUE ...]
        [--rng-seeds 0,1,2] [--threads 2] [--json]

Does runs of `paper_scale.py`, with approximate penalties and with penalties searched in full before every epoch, which
takes up to seven times as long. Each run is one line of OUTPUT, written when it is done. Runs in the file are not
repeated. An interrupted run is resumed after its last epoch, from a checkpoint folder beside OUTPUT that ends in
.running; its seconds are null. All results in OUTPUT are printed. The exit code is 1 if, for a method with its
settings, the means over the seeds differ by more than 0.3 points.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from measuring import Target, add_line, make_parser, matching_lines, parse_arguments, read_lines, report, run_script

if TYPE_CHECKING:
    Record = dict[str, Any]

SCRIPT = Path(__file__).with_name("paper_scale.py")
MAX_DIFFERENCE = 0.3


def main() -> int:
    """Do the missing runs, and compare."""
    parser = make_parser(__doc__, repeat=None)
    parser.add_argument("output", type=Path)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--methods", default="rapo")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--rng-seeds", default="0,1,2")
    args = parse_arguments(parser)
    for rng_seed in map(int, args.rng_seeds.split(",")):
        for method in args.methods.split(","):
            for unhurried in (False, True):
                run = {"method": method, "settings": args.settings, "words": args.words, "rng_seed": rng_seed}
                make(args.output, {**run, "unhurried": unhurried, "threads": args.threads})
    return report(*compare_runs(read_lines(args.output)), args)


def make(output: Path, run: Record) -> None:
    """Do one run unless OUTPUT has it, and append its line."""
    if matching_lines(output, run):
        return
    print("running", run, file=sys.stderr, flush=True)
    arguments = ["--method", run["method"], "--words", run["words"], "--rng-seed", run["rng_seed"]]
    arguments += [text for setting in run["settings"] for text in ("--set", setting)]
    arguments += ["--unhurried"] if run["unhurried"] else []
    arguments += ["--threads", run["threads"]]
    state = output.with_name("-".join(map(str, [output.stem, *arguments])).replace("/", "-") + ".running")
    found = run_script(str(SCRIPT), *arguments, "--checkpoint", state)
    add_line(output, run | {"p_at_1": found["P@1"], "seconds": found.get("all (s)")})
    shutil.rmtree(state, ignore_errors=True)


def compare_runs(runs: list[Record]) -> tuple[dict[str, Any], list[Target]]:
    """P@1 of each seed with and without shortcuts, and the difference of the means over seeds that have both."""
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
            targets.append(
                Target(f"{label}: off by", round(abs(mean(with_) - mean(without)), 3), at_most=MAX_DIFFERENCE)
            )
    return figures, targets


def _paired(runs: list[Record]) -> list[dict[bool, Record]]:
    """Both runs of each seed, sorted by seed."""
    found: dict[int, dict[bool, Record]] = {}
    for run in sorted(runs, key=lambda run: int(run["rng_seed"])):
        found.setdefault(run["rng_seed"], {})[run["unhurried"]] = run
    return [pair for pair in found.values() if len(pair) == 2]


def _label(run: Record) -> str:
    return " ".join([run["method"], *run["settings"], f"{run['words']:,} words"])


if __name__ == "__main__":
    raise SystemExit(main())
