"""What decisions of people teach the second stage, simulated with held-out words of the train dictionary.

    python benchmarks/decisions.py OUTPUT [--systems geomm] [--directions en-fr,ru-en] [--splits 3] [--pairs 500]

Two fifths of the source words of the train dictionary are held out. Half of them are decided about, in several orders;
the second stage learns from the decisions and ranks the other half, which nobody decides about. The simulated person
sees five candidates of a word, chooses those that the dictionary has, and rejects the entry if it has none of them.
--splits divides the held-out words differently, which needs no new alignment. --pairs takes only this many pairs of the
others. The test dictionary is not read. Each run is one file OUTPUT/SYSTEM.DIRECTION.json; all are printed as a table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex import align
from bilex.bench.inputs import some_pairs
from bilex.rerank.cross_fitting import fold_numbers
from bilex.run.relearning import relearn
from bilex.storage.files import atomic_write
from open_directions import DIRECTIONS

if TYPE_CHECKING:
    from bilex import Alignment

COUNTS = (30, 100, 300)
SHOWN = 5
KEYS = ("p_at_1", "wrong", "corrected")
Gold = dict[int, list[int]]


def main() -> None:
    """Do the missing runs, and print all results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--systems", default="")
    parser.add_argument("--directions", default="en-fr,ru-en")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--pairs", type=int)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for system in filter(None, args.systems.split(",")):
        for direction in args.directions.split(","):
            path = args.output / f"{system}.{direction}{f'.{args.pairs}' if args.pairs else ''}.json"
            if not path.exists():
                record = run(system, direction, args.splits, args.pairs)
                with atomic_write(path) as temporary:
                    temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print_table([json.loads(path.read_text("utf-8")) for path in sorted(args.output.glob("*.json"))])


def run(system: str, name: str, splits: int, pairs: int | None) -> dict[str, Any]:
    """Align without the held-out words, then decide and learn in all orders."""
    source, target = DIRECTIONS[name].load()
    train, held_out = (
        DIRECTIONS[name].train().split(0.4, rng_seed=12, among=DIRECTIONS[name].train().index(source, target).sources)
    )
    if pairs is not None:
        train = some_pairs(train, source, target, pairs, 0)
    alignment = align(source, target, train, method=system, measured=False)
    record = {"system": system, "direction": name, "pairs": pairs}
    if alignment.reranker is None:
        return {**record, "splits": []}
    gold = held_out.index(source, target).gold
    return {**record, "splits": [split(alignment, gold, number) for number in range(splits)]}


def split(alignment: Alignment, gold: Gold, number: int) -> dict[str, Any]:
    """One division of the held-out words: P@1 on the words that are not decided about, before and after."""
    rows = np.array(sorted(gold))
    half = fold_numbers([alignment.source.words[i] for i in rows], 2, number)
    pool, rest = rows[half == 0], rows[half == 1]
    return {
        "words": len(rest),
        "before": precision(alignment, rest, gold),
        "orders": {
            name: [after(alignment, pool[order][:count], rest, gold) for count in COUNTS]
            for name, order in orders(alignment, pool, number).items()
        },
    }


def orders(alignment: Alignment, pool: np.ndarray, rng_seed: int) -> dict[str, np.ndarray]:
    """The words in the orders in which a person could decide about them."""
    confidences = ranked(alignment, pool).confidences[:, :SHOWN]
    p, others = confidences[:, 0], 1 - (1 - confidences[:, 1:]).prod(1)
    frequency = np.log2(pool + 2.0)
    by = {
        "frequency": pool,
        "wrong and frequent": (p - 1) / frequency,
        "uncertain": p * (p - 1),
        "uncertain and frequent": p * (p - 1) / frequency,
        "corrected and frequent": (p - 1) * others / frequency,
    }
    found = {name: np.argsort(values, kind="stable") for name, values in by.items()}
    return {"random": np.random.default_rng(rng_seed).permutation(len(pool)), **found}


def after(alignment: Alignment, decided: np.ndarray, rest: np.ndarray, gold: Gold) -> dict[str, Any]:
    """Decide, learn, and measure on the other words."""
    source, target = alignment.source.words, alignment.target.words
    shown = ranked(alignment, decided).targets[:, :SHOWN].tolist()
    right = [
        (source[i], target[j])
        for i, listed in zip(decided.tolist(), shown, strict=True)
        for j in listed
        if j in gold[i]
    ]
    refused = [
        (source[i], target[listed[0]])
        for i, listed in zip(decided.tolist(), shown, strict=True)
        if listed[0] not in gold[i]
    ]
    started = time.perf_counter()
    learnt = alignment.reranked(relearn(alignment, right, refused))
    learning = time.perf_counter() - started
    assert learnt.stage() is not None
    binding = time.perf_counter() - started - learning
    return {
        "decisions": len(decided),
        "wrong": len(refused),
        "corrected": len({pair[0] for pair in right} & {pair[0] for pair in refused}),
        "p_at_1": precision(learnt, rest, gold),
        "seconds": {"learn": learning, "signals": binding},
    }


def precision(alignment: Alignment, rows: np.ndarray, gold: Gold) -> float:
    """P@1 of the second stage."""
    first = ranked(alignment, rows).targets[:, 0].tolist()
    return 100 * statistics.mean(j in gold[i] for i, j in zip(rows.tolist(), first, strict=True))


def ranked(alignment: Alignment, rows: np.ndarray) -> Any:
    """The candidates of some words."""
    stage = alignment.stage()
    assert stage is not None
    return stage.rank(alignment.index(), rows, 20)


def print_table(records: list[dict[str, Any]]) -> None:
    """One line for each system, direction and order: gains in P@1, wrong entries found, and those corrected."""
    counts = [f"{count} decisions" for count in COUNTS]
    heads = ("system", "direction", "pairs", "order", "before", *counts, "wrong, corrected")
    print(f"| {' | '.join(heads)} |")
    print(f"|{'---|' * len(heads)}")
    for record in records:
        about = (record["system"], record["direction"], record["pairs"] or "all")
        if not record["splits"]:
            print("|", " | ".join(map(str, about)), "| no second stage |")
            continue
        before = statistics.mean(split["before"] for split in record["splits"])
        for order in record["splits"][0]["orders"]:
            cells = list(zip(*(split["orders"][order] for split in record["splits"]), strict=True))
            means = [{key: statistics.mean(c[key] for c in cell) for key in KEYS} for cell in cells]
            gains = (f"{mean['p_at_1'] - before:+.2f}" for mean in means)
            found = "; ".join(f"{mean['wrong']:.0f}, {mean['corrected']:.0f}" for mean in means)
            print("|", " | ".join(map(str, (*about, order, f"{before:.2f}", *gains, found))), "|")


if __name__ == "__main__":
    main()
