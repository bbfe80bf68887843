"""Time and peak memory of one training step of RAPO, compared with a direct implementation of the formulas.

    python benchmarks/training_step.py [--words 20000] [--dim 300] [--batch 128] [--threads 2] [--repeat 3] [--json]

A batch of 128 pairs with 128 hard and 128 random negatives each, 300 dimensions and 300 reflections per language,
tables of 20,000 and 40,000 random unit rows. The direct implementation adapts every word of the batch and then applies
300 reflections, one at a time; autograd stores each result. Each version runs in a subprocess, to measure its peak
memory. Our time includes the search for penalties and negatives. The exit code is 1 if the speedup is below 250 or the
memory above 1 GB.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import normalize, softplus

from bilex.methods.rapo.rapo import Rapo
from bilex.training.trace import Trace
from measuring import Target, make_parser, parse_arguments, peak_memory, report, run_script

if TYPE_CHECKING:
    import argparse

SIZES = {"words": 20_000, "dim": 300, "batch": 128}
"""Words of the source table, half of those of the target table; dimensions and reflections; pairs, and negatives of
either sort for each."""
STEPS = 40


def ours(args: argparse.Namespace) -> list[float]:
    """Seconds per step, from the trace of a training."""
    x, z = tables(args)
    steps = min(STEPS, args.words // args.batch)
    pairs = torch.arange(steps * args.batch)[:, None].expand(-1, 2)
    settings = Rapo(start="procrustes", epochs=args.repeat, batch=args.batch, hard=args.batch, random=args.batch)
    trace = Trace()
    settings.fit(x, z, pairs, dev=None, generator=torch.Generator().manual_seed(0), trace=trace)
    return [float(r["train_seconds"] or 0) / steps for r in trace.records if "train_seconds" in r]


def row_by_row(args: argparse.Namespace) -> list[float]:
    """Seconds per step of the direct implementation."""
    x, z = tables(args)
    generator = torch.Generator().manual_seed(0)
    names = ("source_adapter", "target_adapter", "source_reflections", "target_reflections")
    parameters = {
        name: (torch.randn((args.dim, args.dim), generator=generator) / args.dim).requires_grad_() for name in names
    }
    optimizer = torch.optim.Adam(parameters.values(), lr=1e-3)
    penalty, seconds = torch.rand(len(z), generator=generator), []
    for _ in range(args.repeat):
        started = time.perf_counter()
        source = torch.arange(args.batch)
        wrong = torch.randint(len(z), (args.batch, 2 * args.batch), generator=generator)
        target = torch.cat([source[:, None], wrong], 1)
        a = reflect(adapt(x[source], parameters["source_adapter"]), parameters["source_reflections"])
        b = reflect(adapt(z[target], parameters["target_adapter"]), parameters["target_reflections"])
        scores = 2 * (a[:, None] * b).sum(2) - penalty[target]
        loss = softplus(scores[:, 1:] - scores[:, :1]).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        seconds.append(time.perf_counter() - started)
    return seconds


def adapt(rows: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """unit(x + x W): each word is its own context."""
    return normalize(rows + rows @ w, dim=-1)


def reflect(rows: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """X H(v₁) … H(vₙ), one reflection at a time."""
    for v in vectors:
        rows = rows - (2 * (rows @ v) / (v @ v))[..., None] * v
    return rows


def tables(args: argparse.Namespace) -> tuple[torch.Tensor, torch.Tensor]:
    """Random unit rows."""
    generator = torch.Generator().manual_seed(1)
    x, z = (normalize(torch.randn(n, args.dim, generator=generator), dim=1) for n in (args.words, 2 * args.words))
    return x, z


FORMS = {"ours": ours, "row-by-row": row_by_row}


def measure(form: str, args: argparse.Namespace, repeat: int) -> tuple[float, float]:
    """Shortest time per step, and peak memory in GB, measured in a subprocess."""
    sizes = [text for name in SIZES for text in (f"--{name}", getattr(args, name))]
    found = run_script(__file__, "--form", form, "--threads", args.threads, "--repeat", repeat, *sizes)
    return min(found["seconds"]), found["gigabytes"]


def main() -> int:
    """Measure both versions, and print their ratio."""
    parser = make_parser(__doc__)
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--form", choices=FORMS, help="only this one")
    args = parse_arguments(parser)
    if args.form:
        print(json.dumps({"seconds": FORMS[args.form](args), "gigabytes": peak_memory() / 1e9}))
        return 0
    fast, small = measure("ours", args, args.repeat)
    slow, large = measure("row-by-row", args, 1)
    figures: dict[str, Any] = {
        "size": f"batch {args.batch}, {args.words} and {2 * args.words} words, {args.dim} dimensions",
        "threads": args.threads,
        "torch": torch.__version__,
        "row by row (s)": slow,
        "row by row (GB)": large,
        "bilex (s)": fast,
    }
    targets = [
        Target("training step: times faster than row by row", round(slow / fast, 1), at_least=250),
        Target("training step: peak memory (GB)", round(small, 3), at_most=1),
    ]
    return report(figures, targets, args)


if __name__ == "__main__":
    raise SystemExit(main())
