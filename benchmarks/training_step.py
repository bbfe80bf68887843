"""One training step of RAPO against reflecting row by row: seconds and peak memory.

    python benchmarks/training_step.py [--threads 2] [--repeats 3]

A batch of 128 pairs with 128 hard and 128 random negatives each, 300 dimensions and 300 reflections per language,
tables of 20,000 and 40,000 random unit rows. The slow form is the method as its formulas read: every word of the batch
is adapted, then reflected 300 times, one reflection after the other, and autograd keeps each result. Both forms run
in processes of their own, of which the largest size is taken; ours includes the search for penalties and negatives.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import torch
from torch.nn.functional import normalize, softplus

from bilex.methods.rapo import Rapo
from bilex.trace import Trace

D = REFLECTIONS = 300
BATCH, HARD, RANDOM = 128, 128, 128
STEPS = 40


def ours(repeats: int) -> list[float]:
    """Seconds per step, as the trace of a training has them."""
    x, z = tables()
    pairs = torch.arange(STEPS * BATCH)[:, None].expand(-1, 2)
    settings = Rapo(start="procrustes", epochs=repeats, batch=BATCH, hard=HARD, random=RANDOM)
    trace = Trace()
    settings.fit(x, z, pairs, dev=None, generator=torch.Generator().manual_seed(0), trace=trace)
    return [float(r["train_seconds"] or 0) / STEPS for r in trace.records if "train_seconds" in r]


def row_by_row(repeats: int) -> list[float]:
    """Seconds per step of the formulas as they stand."""
    x, z = tables()
    generator = torch.Generator().manual_seed(0)
    names = ("source_adapter", "target_adapter", "source_reflections", "target_reflections")
    shapes = ((D, D), (D, D), (REFLECTIONS, D), (REFLECTIONS, D))
    parameters = {
        name: (torch.randn(shape, generator=generator) / D).requires_grad_()
        for name, shape in zip(names, shapes, strict=True)
    }
    optimizer = torch.optim.Adam(parameters.values(), lr=1e-3)
    penalty, seconds = torch.rand(len(z), generator=generator), []
    for _ in range(repeats):
        started = time.perf_counter()
        source = torch.arange(BATCH)
        wrong = torch.randint(len(z), (BATCH, HARD + RANDOM), generator=generator)
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


def tables() -> tuple[torch.Tensor, torch.Tensor]:
    """Random unit rows."""
    generator = torch.Generator().manual_seed(1)
    x, z = (normalize(torch.randn(n, D, generator=generator), dim=1) for n in (20_000, 40_000))
    return x, z


def measure(form: str, threads: int, repeats: int) -> tuple[float, float]:
    """Best seconds per step and largest size in GB, of a process of its own."""
    command = [sys.executable, __file__, "--form", form, "--threads", str(threads), "--repeats", str(repeats)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return min(found["seconds"]), found["gigabytes"]


def main() -> int:
    """Both forms; exit code 1 below 250 times or above 1 GB."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--form", choices=("ours", "row-by-row"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.form:
        seconds = (ours if args.form == "ours" else row_by_row)(args.repeats)
        gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        print(json.dumps({"seconds": seconds, "gigabytes": gigabytes}))
        return 0
    fast, small = measure("ours", args.threads, args.repeats)
    slow, large = measure("row-by-row", args.threads, 1)
    print(f"threads {args.threads}, torch {torch.__version__}")
    print(f"row by row  {slow:10.3f} s  {large:6.2f} GB")
    print(f"bilex       {fast:10.3f} s  {small:6.2f} GB")
    print(f"ratio       {slow / fast:10.0f}    {large / small:6.1f}")
    return int(slow / fast < 250 or small > 1)


if __name__ == "__main__":
    raise SystemExit(main())
