"""One training step of RAPO against reflecting row by row: seconds and peak memory.

    python benchmarks/training_step.py [--words 20000] [--dim 300] [--batch 128] [--threads 2] [--repeat 3] [--json]

A batch of 128 pairs with 128 hard and 128 random negatives each, 300 dimensions and 300 reflections per language,
tables of 20,000 and 40,000 random unit rows. The slow form is the method as its formulas read: every word of the batch
is adapted, then reflected 300 times, one reflection after the other, and autograd keeps each result. Both forms run
in processes of their own, of which the largest size is taken; ours includes the search for penalties and negatives.
The exit code is 1 below 250 times or above 1 GB.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import normalize, softplus

from bilex.methods.rapo.rapo import Rapo
from bilex.training.trace import Trace
from measuring import Target, begin, options, own_process, peak, report

if TYPE_CHECKING:
    import argparse

SIZES = {"words": 20_000, "dim": 300, "batch": 128}
"""Words of the source table, half of those of the target table; dimensions and reflections; pairs, and negatives of
either sort for each."""
STEPS = 40


def ours(args: argparse.Namespace) -> list[float]:
    """Seconds per step, as the trace of a training has them."""
    x, z = tables(args)
    steps = min(STEPS, args.words // args.batch)
    pairs = torch.arange(steps * args.batch)[:, None].expand(-1, 2)
    settings = Rapo(start="procrustes", epochs=args.repeat, batch=args.batch, hard=args.batch, random=args.batch)
    trace = Trace()
    settings.fit(x, z, pairs, dev=None, generator=torch.Generator().manual_seed(0), trace=trace)
    return [float(r["train_seconds"] or 0) / steps for r in trace.records if "train_seconds" in r]


def row_by_row(args: argparse.Namespace) -> list[float]:
    """Seconds per step of the formulas as they stand."""
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
    """Unit(x + x W), each word its own context."""
    return normalize(rows + rows @ w, dim=-1)


def reflect(rows: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """X H(v₁) … H(vₙ), one after the other."""
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
    """Best seconds per step and largest size in GB, of a process of its own."""
    sizes = [text for name in SIZES for text in (f"--{name}", getattr(args, name))]
    found = own_process(__file__, "--form", form, "--threads", args.threads, "--repeat", repeat, *sizes)
    return min(found["seconds"]), found["gigabytes"]


def main() -> int:
    """Both forms, and their ratio."""
    parser = options(__doc__)
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--form", choices=FORMS, help="only this one")
    args = begin(parser)
    if args.form:
        print(json.dumps({"seconds": FORMS[args.form](args), "gigabytes": peak() / 1e9}))
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
