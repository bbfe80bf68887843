"""RAPO at the size of the paper's tables (200,000 x 200,000 words, 300 dimensions): time by stage, and peak memory.

    python benchmarks/paper_scale.py [--words 200000] [--methods vecmap,rapo,rapo_semi] [--set KEY=VALUE ...]
        [--rng-seed 0] [--unhurried] [--threads 2] [--json]
    python benchmarks/paper_scale.py --method rapo_semi --checkpoint FOLDER ...

Data: Russian vectors and other Russian vectors (`ru`, `ru-news`). Of the shared words, in order of frequency, the first
5,000 are the train dictionary and the next 1,500 the test dictionary. Each method is trained and evaluated once in a
subprocess, which measures its peak memory. Loading the tables is not counted. --set applies to the methods whose names
begin with `rapo`. With --unhurried all penalties are searched in full before every epoch, to see what the approximate
penalties cost in accuracy; then there are no targets. A single method with a checkpoint is resumed after an
interruption; its time is then not reported. The exit code is 1 if `rapo` takes more than 2.5 minutes or 2.9 GB, or
`rapo_semi` (here with five rounds) more than 10 minutes or 3.9 GB.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch

from bilex import Trace, align, get_method
from bilex.methods.rapo.penalties import ApproximatePenalties
from bilex.search.topk import topk
from bilex.training.checkpoint import Checkpoint
from measuring import Target, make_parser, parse_arguments, peak_memory, report, run_script, time_call
from open_directions import load_russian_pair

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from torch import Tensor

    from bilex.search.blocks import Progress

    Found = tuple[Tensor, float]

SECONDS = ("seconds", "refresh_seconds", "train_seconds")
SETTINGS = {"rapo_semi": {"rounds": "5"}}
MINUTES = {"rapo": 2.5, "rapo_semi": 10}
GIGABYTES = {"rapo": 2.9, "rapo_semi": 3.9}


def main() -> int:
    """Align and evaluate with each method, and print the figures."""
    parser = make_parser(__doc__, repeat=None)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--methods", default="vecmap,rapo")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--rng-seed", type=int, default=0)
    parser.add_argument("--unhurried", action="store_true", help="no shortcuts in training")
    parser.add_argument("--method", help="only this one, and in this process")
    parser.add_argument("--checkpoint", type=Path, metavar="FOLDER", help="its state, to go on from; made if missing")
    args = parse_arguments(parser)
    if args.method:
        print(json.dumps(measure(args.method, args)))
        return 0
    same = ["--words", args.words, "--threads", args.threads, "--rng-seed", args.rng_seed]
    same += [text for setting in args.settings for text in ("--set", setting)]
    same += ["--unhurried"] if args.unhurried else []
    figures: dict[str, Any] = {"size": f"{args.words} x {args.words} words", "threads": args.threads}
    figures["torch"] = torch.__version__
    targets = []
    for name in args.methods.split(","):
        found = run_script(__file__, "--method", name, *same)
        figures |= {f"{name}: {what}": value for what, value in found.items()}
        if name in MINUTES and not args.unhurried:
            targets.append(Target(f"{name}: minutes", round(found["all (s)"] / 60, 2), at_most=MINUTES[name]))
            targets.append(Target(f"{name}: peak memory (GB)", found["peak memory (GB)"], at_most=GIGABYTES[name]))
    return report(figures, targets, args)


def measure(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Scores, times and memory of one method."""
    world = load_russian_pair(args.words)
    given = dict(text.split("=", 1) for text in args.settings) if name.startswith("rapo") else {}
    method = get_method(name, SETTINGS.get(name, {}) | given)
    resumed = args.checkpoint is not None and args.checkpoint.exists()
    if args.checkpoint is not None:
        args.checkpoint.mkdir(parents=True, exist_ok=True)
    trace = Trace(lambda record: print(name, record, file=sys.stderr, flush=True))
    more = {
        "method": method,
        "rng_seed": args.rng_seed,
        "trace": trace,
        "checkpoint": Checkpoint(args.checkpoint),
        "measured": False,
    }
    with unhurried() if args.unhurried else nullcontext():
        alignment, fitting = time_call(
            lambda: align(world.source, world.target, world.train, vectors_only=True, **more)
        )
    found, evaluating = time_call(lambda: alignment.evaluate(world.test))
    spent = {} if resumed else {**stages(trace, fitting), "evaluation": evaluating, "all": fitting + evaluating}
    return {
        "P@1": round(found.scores.p_at_1, 2),
        "test words": found.covered,
        **{f"{what} (s)": round(seconds, 1) for what, seconds in spent.items()},
        "peak memory (GB)": round(peak_memory() / 1e9, 2),
    }


def stages(trace: Trace, fitting: float) -> dict[str, float]:
    """Seconds of each stage of a fit, and of everything else."""
    spent: dict[str, float] = defaultdict(float)
    for record in trace.records:
        for key in SECONDS:
            if key in record:
                stage = record.get("stage", "")
                spent[f"{stage} {key.removesuffix('seconds').strip('_')}".strip()] += float(record[key] or 0)
    return {**spent, "the rest of fit": fitting - sum(spent.values())}


def unhurried() -> AbstractContextManager[Any]:
    """Search every neighbour list in full. The previous list is only used as a warm start."""

    def search(self: ApproximatePenalties, keys: Tensor, queries: Tensor, progress: Progress | None = None) -> Found:
        found = topk(keys, queries, self.k, warm_start=self.near, progress=progress)
        self.near = found.indices.to(torch.int32)
        return found.values.mean(1), 0.0

    return mock.patch.object(ApproximatePenalties, "__call__", search)


if __name__ == "__main__":
    raise SystemExit(main())
