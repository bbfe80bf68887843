"""Exact CSLS for few queries: computing only the penalties that matter, compared with computing all of them.

    python benchmarks/exact_csls.py [--words 200000] [--queries 1500] [--threads 2] [--repeat 3] [--json]

Data: Russian vectors and other Russian vectors (`ru`, `ru-news`), aligned by Procrustes on words that both tables have.
The first 5,000 of these are the train dictionary, the next ones the queries. No penalty is cached at the start of a
call. Times are wall-clock and processor seconds, the shortest of several runs. Memory is the growth of the resident set
(Linux only). The exit code is 1 if an answer differs, if the speedup is below 8 for top-1 or 4 for top-10 (wall clock),
or if more than 2 GB are used.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from bilex import align
from bilex.retrieval import CSLS
from measuring import Target, make_parser, memory_growth, parse_arguments, report
from open_directions import load_russian_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.retrieval import Index

    Ask = Callable[[Index], tuple[Tensor, ...]]

MIN_SPEEDUPS = {"top 1": 8, "top 10": 4}
"""Required speedup (wall clock)."""


def main() -> int:
    """Compare, and print the times, ratios and counts."""
    parser = make_parser(__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=1500)
    args = parse_arguments(parser)
    x, z, pairs = mapped(args.words, args.queries)
    queries, gold = x[pairs[:, 0]], pairs[:, 1:]
    asks: dict[str, Ask] = {
        "top 1": lambda index: index.topk(queries, 1),
        "top 10": lambda index: index.topk(queries, 10),
        "ranks": lambda index: (index.ranks(queries, gold),),
    }
    figures, targets = compare(x, z, asks, args.repeat)
    size = {"size": f"{len(queries)} x {len(z)} x {z.shape[1]}", "threads": args.threads}
    return report(size | figures, targets, args)


def compare(x: Tensor, z: Tensor, asks: dict[str, Ask], repeat: int) -> tuple[dict[str, Any], list[Target]]:
    """Times with some penalties and with all, and whether the answers agree."""
    figures: dict[str, Any] = {}
    targets: list[Target] = []
    parts, most = {}, 0
    for name, ask in asks.items():
        index, *parts[name], memory = best(lambda: CSLS().index(x, z), ask, repeat)
        known = index.partial_penalties.get("target")
        figures[f"{name}: exact penalties"] = len(z) if "target" in index.penalties else int(known.exact.sum())
        figures[f"{name}: peak memory (MB)"] = round(memory / 2**20)
        most = max(most, memory)
    whole, _, all_penalties, memory = best(lambda: CSLS().index(x, z), lambda index: index.penalty("target"), repeat)
    figures |= {"all penalties (s, cpu s)": shown(all_penalties), "all: peak memory (MB)": round(memory / 2**20)}
    for name, ask in asks.items():
        answer, part = parts[name]
        _, expected, took, _ = best(lambda: whole, ask, repeat)
        brute = [a + b for a, b in zip(all_penalties, took, strict=True)]
        ratio = shown([a / b for a, b in zip(brute, part, strict=True)])
        figures[f"{name}: all (s, cpu s)"] = shown(brute)
        figures[f"{name}: part (s, cpu s)"] = shown(part)
        figures[f"{name}: ratio (s, cpu s)"] = ratio
        same = all(torch.equal(a, b) for a, b in zip(answer, expected, strict=True))
        targets.append(Target(f"CSLS {name}: the same answers (1)", float(same), at_least=1))
        if name in MIN_SPEEDUPS:
            targets.append(Target(f"CSLS {name}: times faster", ratio[0], at_least=MIN_SPEEDUPS[name]))
    targets.append(Target("CSLS: peak memory (GB)", round(most / 1e9, 3), at_most=2))
    return figures, targets


def mapped(words: int, queries: int) -> tuple[Tensor, Tensor, Tensor]:
    """Both tables in the shared space, and the rows of the queries with those of their translations."""
    world = load_russian_pair(words, test=queries)
    alignment = align(world.source, world.target, world.train, method="procrustes", measured=False, vectors_only=True)
    indexed = world.test.index(world.source, world.target)
    return alignment.source_rows, alignment.target_rows, torch.tensor([(i, indexed.gold[i][0]) for i in indexed.gold])


def best(make: Callable[[], Index], run: Ask, repeat: int) -> tuple[Index, Any, list[float], int]:
    """The last index, the result of a call, its shortest wall-clock and processor time, and its peak memory."""
    least, most = [float("inf")] * 2, 0
    for _ in range(repeat):
        index, result = make(), []
        clock, processor = time.perf_counter(), time.process_time()
        most = max(most, memory_growth(lambda index=index, result=result: result.append(run(index))))
        took = time.perf_counter() - clock, time.process_time() - processor
        least = [min(pair) for pair in zip(least, took, strict=True)]
    return index, result[0], least, most


def shown(numbers: list[float]) -> list[float]:
    """Rounded numbers."""
    return [round(number, 2) for number in numbers]


if __name__ == "__main__":
    raise SystemExit(main())
