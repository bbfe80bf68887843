"""Exact CSLS of few queries from a part of the penalties, against all penalties; the answers must be the same.

    python benchmarks/exact_csls.py [--words 200000] [--queries 1500] [--threads 2] [--repeat 3] [--json]

Russian vectors against other Russian vectors (`ru`, `ru-news`), mapped by Procrustes from words that both have: the
first 5,000 of them are the train dictionary, the next ones the queries. Each answer begins with no penalty known.
Seconds are those of the clock and, since machines are busy, of the processor, the least of several runs. Memory is the
growth of the resident set (Linux only). The exit code is 1 if an answer differs, below 8 times faster for top-1 or 4
for top-10 (by the clock), or above 2 GB.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from bilex import align
from bilex.retrieval import CSLS
from measuring import Target, begin, growth, options, report
from open_directions import two_russians

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.retrieval import Index

    Ask = Callable[[Index], tuple[Tensor, ...]]

LEAST = {"top 1": 8, "top 10": 4}
"""So many times faster it should be."""


def main() -> int:
    """Compare, and print the times, ratios and counts."""
    parser = options(__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=1500)
    args = begin(parser)
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
    """Times of the parts, then of the whole, with whatever they find."""
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
        if name in LEAST:
            targets.append(Target(f"CSLS {name}: times faster", ratio[0], at_least=LEAST[name]))
    targets.append(Target("CSLS: peak memory (GB)", round(most / 1e9, 3), at_most=2))
    return figures, targets


def mapped(words: int, queries: int) -> tuple[Tensor, Tensor, Tensor]:
    """Both tables in the shared space, and the rows of the queries with those of their translations."""
    world = two_russians(words, test=queries)
    alignment = align(world.source, world.target, world.train, method="procrustes", measured=False)
    indexed = world.test.index(world.source, world.target)
    return alignment.source_rows, alignment.target_rows, torch.tensor([(i, indexed.gold[i][0]) for i in indexed.gold])


def best(make: Callable[[], Index], run: Ask, repeat: int) -> tuple[Index, Any, list[float], int]:
    """The last index, what a call with it returns, its least seconds by clock and processor, its greatest memory."""
    least, most = [float("inf")] * 2, 0
    for _ in range(repeat):
        index, result = make(), []
        clock, processor = time.perf_counter(), time.process_time()
        most = max(most, growth(lambda index=index, result=result: result.append(run(index))))
        took = time.perf_counter() - clock, time.process_time() - processor
        least = [min(pair) for pair in zip(least, took, strict=True)]
    return index, result[0], least, most


def shown(numbers: list[float]) -> list[float]:
    """Rounded, to read."""
    return [round(number, 2) for number in numbers]


if __name__ == "__main__":
    raise SystemExit(main())
