"""Exact CSLS of few queries from a part of the penalties, against all penalties; the answers must be the same.

    python benchmarks/exact_csls.py [--words 200000] [--queries 1500] [--threads 2] [--json]

Russian vectors against other Russian vectors (`ru`, `ru-news`), mapped by Procrustes from words that both have: the
first 5,000 of them are the train dictionary, the next ones the queries. Each answer begins with no penalty known.
Seconds are those of the clock and, since machines are busy, of the processor. Memory is the growth of the resident
set (Linux only). The exit code is 1 if an answer differs.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING, Any

import torch

from bilex import Lexicon, align
from bilex.retrieval import CSLS
from open_directions import load_table
from topk import growth

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.retrieval import Index

    Ask = Callable[[Index], tuple[Tensor, ...]]


def main() -> int:
    """Compare, and print the times, ratios and counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    x, z, pairs = mapped(args.words, args.queries)
    queries, gold = x[pairs[:, 0]], pairs[:, 1:]
    asks: dict[str, Ask] = {
        "top 1": lambda index: index.topk(queries, 1),
        "top 10": lambda index: index.topk(queries, 10),
        "ranks": lambda index: (index.ranks(queries, gold),),
    }
    report = {"size": f"{len(queries)} x {len(z)} x {z.shape[1]}", "threads": args.threads, **compare(x, z, asks)}
    print(json.dumps(report) if args.json else "\n".join(f"{name:28}{value}" for name, value in report.items()))
    return int(not all(value for name, value in report.items() if name.endswith("same")))


def compare(x: Tensor, z: Tensor, asks: dict[str, Ask]) -> dict[str, Any]:
    """Times of the parts first, then of the whole, with whatever they find."""
    report: dict[str, Any] = {}
    parts = {}
    for name, ask in asks.items():
        index = CSLS().index(x, z)
        answer, took, memory = timed(lambda ask=ask, index=index: ask(index))
        parts[name] = answer, took
        known = index.partial.get("target")
        report[f"{name}: exact penalties"] = len(z) if "target" in index.penalties else int(known.exact.sum())
        report[f"{name}: peak memory (MB)"] = round(memory / 2**20)
    whole = CSLS().index(x, z)
    _, all_penalties, memory = timed(lambda: whole.penalty("target"))
    report["all penalties (s, cpu s)"] = shown(all_penalties)
    report["all: peak memory (MB)"] = round(memory / 2**20)
    for name, ask in asks.items():
        answer, took, _ = timed(lambda ask=ask: ask(whole))
        brute = [a + b for a, b in zip(all_penalties, took, strict=True)]
        report[f"{name}: all (s, cpu s)"] = shown(brute)
        report[f"{name}: part (s, cpu s)"] = shown(parts[name][1])
        report[f"{name}: ratio (s, cpu s)"] = shown([a / b for a, b in zip(brute, parts[name][1], strict=True)])
        report[f"{name}: same"] = all(torch.equal(a, b) for a, b in zip(answer, parts[name][0], strict=True))
    return report


def mapped(words: int, queries: int) -> tuple[Tensor, Tensor, Tensor]:
    """Both tables in the shared space, and the rows of the queries with those of their translations."""
    source, target = load_table("ru", words), load_table("ru-news", words)
    shared = [(word, word) for word in source.words if word in target][: 5000 + queries]
    alignment = align(source, target, Lexicon.from_pairs(shared[:5000]))
    indexed = Lexicon.from_pairs(shared[5000:]).index(source, target)
    return alignment.source_rows, alignment.target_rows, torch.tensor([(i, indexed.gold[i][0]) for i in indexed.gold])


def timed(run: Callable[[], Any]) -> tuple[Any, list[float], int]:
    """What a call returns, its seconds by the clock and of the processor, and the memory it takes at most."""
    result = []
    clock, processor = time.perf_counter(), time.process_time()
    memory = growth(lambda: result.append(run()))
    return result[0], [time.perf_counter() - clock, time.process_time() - processor], memory


def shown(numbers: list[float]) -> list[float]:
    """Rounded, to read."""
    return [round(number, 2) for number in numbers]


if __name__ == "__main__":
    raise SystemExit(main())
