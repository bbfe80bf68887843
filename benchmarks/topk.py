"""The exact top-k kernel against the bare matrix products of the same size and against faiss IndexFlatIP.

    python benchmarks/topk.py [--queries 10000] [--keys 200000] [--dim 300] [-n 10] [--threads 2] [--repeat 3] [--json]

All in one process, interleaved, best of several: machines are noisy, so read the ratios. The bare products write into
one reused buffer, in the fastest of several block shapes. Peak memory is measured in a process of its own, as the
growth of the resident set over what the inputs take (Linux only).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from bilex.linalg.topk import BUDGET, topk

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

SHAPES = ((2048, 2048), (2500, 2000), (4000, 2000), (4096, 1024))


def main() -> None:
    """Print the times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--keys", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("-n", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    queries, keys = unit_rows(args.queries, args.dim, 0), unit_rows(args.keys, args.dim, 1)
    if args.memory:
        print(growth(lambda: topk(queries, keys, args.n, budget=args.budget)))
        return
    report = compare(queries, keys, args)
    print(json.dumps(report) if args.json else "\n".join(f"{name:28}{value}" for name, value in report.items()))


def compare(queries: Tensor, keys: Tensor, args: argparse.Namespace) -> dict[str, object]:
    """Best times, ratios to the bare products, agreement and memory."""
    import faiss

    faiss.omp_set_num_threads(args.threads)
    flat = faiss.IndexFlatIP(args.dim)
    flat.add(keys.numpy())
    bias = torch.rand(args.keys) / 100
    runs: dict[str, Callable[[], object]] = {
        **{f"products {shape}": lambda shape=shape: products(queries, keys, *shape) for shape in SHAPES},
        "bilex topk": lambda: topk(queries, keys, args.n, budget=args.budget),
        "bilex topk with bias": lambda: topk(queries, keys, args.n, bias=bias, budget=args.budget),
        "faiss IndexFlatIP": lambda: flat.search(queries.numpy(), args.n),
    }
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(args.repeat):
        for name, run in runs.items():
            best[name] = min(best[name], seconds(run))
    bare = min(time for name, time in best.items() if name.startswith("products"))
    ours, theirs = topk(queries, keys, args.n).indices, flat.search(queries.numpy(), args.n)[1]
    command = [sys.executable, __file__, "--memory", *sys.argv[1:]]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {
        "size": f"{args.queries} x {args.keys} x {args.dim}, top {args.n}",
        "threads": args.threads,
        **{f"{name} (s)": round(time, 3) for name, time in best.items()},
        "bilex / products": round(best["bilex topk"] / bare, 3),
        "bilex with bias / products": round(best["bilex topk with bias"] / bare, 3),
        "bilex / faiss": round(best["bilex topk"] / best["faiss IndexFlatIP"], 3),
        "same neighbours as faiss": float((ours.numpy() == theirs).mean()),
        "peak memory (MB)": round(peak / 2**20, 1),
        "budget (MB)": round(args.budget / 2**20, 1),
    }


def products(queries: Tensor, keys: Tensor, height: int, width: int) -> None:
    """All scores, block by block, into one buffer."""
    buffer = torch.empty(height * width)
    for i in range(0, len(queries), height):
        rows = queries[i : i + height]
        for j in range(0, len(keys), width):
            columns = keys[j : j + width]
            torch.mm(rows, columns.T, out=buffer[: len(rows) * len(columns)].view(len(rows), len(columns)))


def unit_rows(n: int, dim: int, rng_seed: int) -> Tensor:
    """Random rows of length 1."""
    rows = torch.randn(n, dim, generator=torch.Generator().manual_seed(rng_seed))
    return torch.nn.functional.normalize(rows, dim=1)


def seconds(run: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def growth(run: Callable[[], object]) -> int:
    """Bytes by which the resident set grows at most during a call, over what it is before."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak that making the inputs has left
    before = peak()
    run()
    return peak() - before


def peak() -> int:
    """Largest resident set so far in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


if __name__ == "__main__":
    main()
