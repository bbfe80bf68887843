"""The exact top-k search, compared with bare matrix products of the same size and with faiss IndexFlatIP.

    python benchmarks/topk.py [--queries 10000] [--keys 200000] [--dim 300] [-n 10] [--threads 2] [--repeat 3] [--json]

Everything runs in one process, interleaved, and the best of several runs counts. Times are noisy, so read the ratios.
The bare products are written into one reused buffer in float32, in the fastest of several block shapes. If the
processor is faster in low precision, the search begins there; it is also timed without ("in full"), as on other
processors. Peak memory is measured in a subprocess as the growth of the resident set beyond the inputs (Linux only).
The exit code is 1 if the search in full takes more than 1.15 times the products, or longer than faiss (if installed),
or if it exceeds the memory budget.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch

from bilex.search.blocks import BUDGET
from bilex.search.topk import topk
from measuring import (
    Target,
    best_of,
    make_parser,
    memory_growth,
    parse_arguments,
    report,
    run_script,
    without_low_precision,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from torch import Tensor

SHAPES = ((2048, 2048), (2500, 2000), (4000, 2000), (4096, 1024))


def main() -> int:
    """Print the times and ratios."""
    parser = make_parser(__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--keys", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("-n", type=int, default=10)
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--memory", action="store_true", help="the bytes that a search takes at most, and nothing else")
    args = parse_arguments(parser)
    queries, keys = unit_rows(args.queries, args.dim, 0), unit_rows(args.keys, args.dim, 1)
    if args.memory:
        print(memory_growth(lambda: topk(queries, keys, args.n, budget=args.budget)))
        return 0
    return report(*compare(queries, keys, args), args)


def compare(queries: Tensor, keys: Tensor, args: argparse.Namespace) -> tuple[dict[str, Any], list[Target]]:
    """Best times, ratios to the bare products, agreement and memory."""
    bias = torch.rand(args.keys) / 100
    flat = faiss_index(keys, args.threads)
    runs: dict[str, Callable[[], Any]] = {
        **{f"products {shape}": lambda shape=shape: products(queries, keys, *shape) for shape in SHAPES},
        "bilex topk": lambda: topk(queries, keys, args.n, budget=args.budget),
        "bilex topk with bias": lambda: topk(queries, keys, args.n, bias=bias, budget=args.budget),
    }
    runs["bilex topk in full"] = without_low_precision(runs["bilex topk"])
    if flat is not None:
        runs["faiss IndexFlatIP"] = lambda: flat.search(queries.numpy(), args.n)
    best = best_of(args.repeat, runs)
    bare = min(time for name, time in best.items() if name.startswith("products"))
    size = [value for name in ("queries", "keys", "dim", "budget") for value in (f"--{name}", getattr(args, name))]
    memory = run_script(__file__, "--memory", "--threads", args.threads, "-n", args.n, *size)
    figures = {
        "size": f"{args.queries} x {args.keys} x {args.dim}, top {args.n}",
        "threads": args.threads,
        **{f"{name} (s)": round(time, 3) for name, time in best.items()},
        "top-k / bare products": round(best["bilex topk"] / bare, 3),
        "with bias / products": round(best["bilex topk with bias"] / bare, 3),
        "peak memory (MB)": round(memory / 2**20, 1),
        "budget (MB)": round(args.budget / 2**20, 1),
    }
    targets = [
        Target("top-k in full / bare products", round(best["bilex topk in full"] / bare, 3), at_most=1.15),
        Target("top-k: peak memory / budget", round(memory / args.budget, 3), at_most=1),
    ]
    if flat is not None:
        same = torch.from_numpy(runs["faiss IndexFlatIP"]()[1]) == runs["bilex topk"]().indices
        figures["same neighbours as faiss"] = float(same.double().mean())
        ratio = best["bilex topk"] / best["faiss IndexFlatIP"]
        targets.append(Target("top-k / faiss IndexFlatIP", round(ratio, 3), at_most=1))
    return figures, targets


def faiss_index(keys: Tensor, threads: int) -> Any:
    """The same search with faiss. None if faiss is not installed."""
    if find_spec("faiss") is None:
        return None
    import faiss

    faiss.omp_set_num_threads(threads)
    flat = faiss.IndexFlatIP(keys.shape[1])
    flat.add(keys.numpy())
    return flat


def products(queries: Tensor, keys: Tensor, height: int, width: int, dtype: torch.dtype = torch.float32) -> None:
    """Compute all scores, block by block, into one buffer."""
    queries, keys, buffer = queries.to(dtype), keys.to(dtype), torch.empty(height * width, dtype=dtype)
    for i in range(0, len(queries), height):
        rows = queries[i : i + height]
        for j in range(0, len(keys), width):
            columns = keys[j : j + width]
            torch.mm(rows, columns.T, out=buffer[: len(rows) * len(columns)].view(len(rows), len(columns)))


def unit_rows(n: int, dim: int, rng_seed: int) -> Tensor:
    """Random rows of length 1."""
    rows = torch.randn(n, dim, generator=torch.Generator().manual_seed(rng_seed))
    return torch.nn.functional.normalize(rows, dim=1)


if __name__ == "__main__":
    raise SystemExit(main())
