"""The second stage on the open directions: P@1 beside that of the vectors, calibration, several translations, cost.

    python benchmarks/second_stage.py OUTPUT [--systems geomm,rapo] [--directions en-fr,en-fi] [--rng-seeds 0,1,2]
        [--pairs 500] [--held-out] [--omw] [--without endings] [--threads 2]

Each run is one file OUTPUT/SYSTEM.DIRECTION.SEED.json. Runs that are there are not repeated, so that a table can be
interrupted and extended. At the end all results in OUTPUT are printed as a Markdown table.

The test dictionary is used for evaluation only. With --held-out it is not read at all: a fifth of the source words of
the train dictionary takes its place, for choices. With --omw the pairs of Open Multilingual Wordnet whose source words
are not in the train dictionary take its place: another dictionary than that which was learnt from.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bilex import Lexicon, get_method
from bilex.bench.inputs import some_pairs
from bilex.evaluation.calibration import calibration_error, reliability
from bilex.evaluation.precision import gold_matrix
from bilex.evaluation.significance import sign_test
from bilex.fitting.fit import fit
from bilex.fitting.inputs import collect
from bilex.fitting.second_stage import fit_second_stage
from bilex.rerank.learning import SecondStage
from bilex.rerank.reranker import RETRIEVAL
from bilex.storage.files import atomic_write
from bilex.training.negatives import is_gold
from open_directions import DIRECTIONS, SHARED

if TYPE_CHECKING:
    from bilex import Alignment, EmbeddingTable
    from bilex.rerank.reranker import Ranked

PRECISIONS = (0.8, 0.9, 0.95)
SHOWN = (1, 5, 20)
"""Numbers of candidates of which any may be right."""
BANDS = (0, 2_000, 5_000, 10_000, 20_000, 1_000_000)
MANY = 10_000
"""Words that are ranked to measure the time."""
OMW_ROWS = 10_000
"""Only source words among this many most frequent ones."""


def main() -> None:
    """Do the missing runs, and print all results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--systems", default="")
    parser.add_argument("--directions", default=",".join(DIRECTIONS))
    parser.add_argument("--rng-seeds", default="0")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--omw", action="store_true")
    parser.add_argument("--without", default="")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.output.mkdir(parents=True, exist_ok=True)
    for rng_seed in map(int, args.rng_seeds.split(",")):
        for direction in args.directions.split(","):
            for system in filter(None, args.systems.split(",")):
                path = args.output / f"{system}.{direction}.{rng_seed}.json"
                if not path.exists():
                    _write(path, run(system, direction, rng_seed, args))
    print_table([json.loads(path.read_text("utf-8")) for path in sorted(args.output.glob("*.json"))])


def run(system: str, name: str, rng_seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """Fit and evaluate one system with and without the second stage."""
    source, target = DIRECTIONS[name].load()
    train, test = _lexicons(name, source, target, args)
    if args.pairs is not None:
        train = some_pairs(train, source, target, args.pairs, rng_seed)
    inputs = collect(source, target, train, method=get_method(system), rng_seed=rng_seed)
    started, cpu = time.perf_counter(), time.process_time()
    alignment = fit(inputs)
    fitted, cpu_fitted = time.perf_counter(), time.process_time()
    without = tuple(filter(None, args.without.split(",")))
    reranker = fit_second_stage(alignment, inputs, SecondStage(without=without))
    seconds = {
        "align": fitted - started,
        "second_stage": time.perf_counter() - fitted,
        "align_cpu": cpu_fitted - cpu,
        "second_stage_cpu": time.process_time() - cpu_fitted,
        "threads": args.threads,
    }
    record = {"system": system, "direction": name, "rng_seed": rng_seed, "pairs": args.pairs, "seconds": seconds}
    if reranker is None:
        return {**record, "second_stage": None, "test": {"vectors_only": alignment.evaluate(test).scores.p_at_1}}
    found = {"signals": reranker.signals, "held_out": reranker.summary.to_json()}
    weights = dict(zip(reranker.ranker.names, reranker.ranker.weights.round(3).tolist(), strict=True))
    return {
        **record,
        "second_stage": {**found, "weights": weights},
        "test": measure(alignment.reranked(reranker), test),
        "ranking": rank_many(alignment.reranked(reranker)),
    }


def rank_many(alignment: Alignment) -> dict[str, float]:
    """Seconds to rank the first `MANY` words, from two mapped tables on: with the signals and all penalties."""
    stage = alignment.stage()
    assert stage is not None
    fresh = RETRIEVAL.index(alignment.source_rows, alignment.target_rows)
    started, cpu = time.perf_counter(), time.process_time()
    stage.rank(fresh, np.arange(min(MANY, len(alignment.source))), stage.reranker.candidates)
    return {"words": MANY, "seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}


def measure(alignment: Alignment, test: Lexicon) -> dict[str, Any]:
    """All figures on the test words."""
    indexed = test.index(alignment.source, alignment.target)
    rows = torch.tensor(list(indexed.sources.values()))
    gold = gold_matrix(indexed.gold, rows)
    stage = alignment.stage()
    assert stage is not None
    started, cpu = time.perf_counter(), time.process_time()
    ranked = stage.rank(alignment.index(), rows.numpy(), stage.reranker.candidates)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    right = is_gold(torch.from_numpy(ranked.targets), gold).numpy()
    best = alignment.index().topk(alignment.index().x[rows], 1, rows=rows).indices
    before = is_gold(best, gold).numpy()[:, 0]
    total = np.array([len(indexed.gold[row]) for row in rows.tolist()])
    sources, targets = alignment.source.words, alignment.target.words
    differ = np.array([all(sources[i] != targets[j] for j in indexed.gold[i]) for i in rows.tolist()])
    after, confidence = right[:, 0], ranked.confidences[:, 0]
    signs = sign_test(after, before)
    return {
        "words": len(rows),
        "p_at_1": 100 * after.mean(),
        "vectors_only": 100 * before.mean(),
        "recall": 100 * right.any(1).mean(),
        "wins": signs.wins,
        "losses": signs.losses,
        "p_value": signs.p_value,
        "not_identical": {
            "words": int(differ.sum()),
            "p_at_1": _percent(after[differ]),
            "vectors_only": _percent(before[differ]),
        },
        "bands": [
            {
                "first": low,
                "words": int(here.sum()),
                "p_at_1": _percent(after[here]),
                "vectors_only": _percent(before[here]),
                "confidence": _percent(confidence[here]),
                "calibration_error": calibration_error(confidence[here], after[here]),
            }
            for low, high in itertools.pairwise(BANDS)
            if (here := ((rows >= low) & (rows < high)).numpy()).any()
        ],
        "calibration_error": calibration_error(confidence, after),
        "calibration_error_by_chance": by_chance(confidence),
        "calibration_error_all": calibration_error(ranked.confidences.reshape(-1), right.reshape(-1)),
        "reliability": [list(part) for part in reliability(confidence, after)],
        "any_right": [_any_right(ranked, right, n) for n in SHOWN],
        "expected_precision": [_kept(confidence, after, precision) for precision in PRECISIONS],
        "several": several(ranked, right, total, stage.reranker.summary.min_confidence),
        "rank_seconds": seconds,
        "rank_cpu_seconds": cpu_seconds,
        "errors": _errors(ranked, right, rows.tolist(), indexed.gold, sources, targets),
    }


def by_chance(confidence: np.ndarray, samples: int = 200) -> float:
    """The mean calibration error of probabilities that are exactly right: chance alone, with so many words."""
    generator = np.random.default_rng(0)
    right = (generator.random(len(confidence)) < confidence for _ in range(samples))
    return statistics.mean(calibration_error(confidence, one) for one in right)


def several(ranked: Ranked, right: np.ndarray, total: np.ndarray, threshold: float) -> dict[str, Any]:
    """Precision, recall and F1 with the number of translations chosen by probability, and the best fixed number."""
    chosen = (ranked.confidences >= threshold) | (np.arange(right.shape[1]) == 0)
    fixed = {n: _f1(right[:, :n].sum(), n * len(right), total.sum())["f1"] for n in range(1, 6)}
    best = max(fixed, key=lambda n: fixed[n])
    found = _f1((chosen & right).sum(), chosen.sum(), total.sum())
    return {**found, "threshold": threshold, "best_fixed": best, "best_fixed_f1": fixed[best]}


def print_table(records: list[dict[str, Any]]) -> None:
    """One line for each system and direction: means over the seeds."""
    columns = (
        "vectors only",
        "second stage",
        "gain",
        "recall",
        "wins : losses",
        "ECE (by chance)",
        "ECE of any",
        "precision at 0.9",
        "F1",
        "F1 fixed",
    )
    print(f"| system | direction | {' | '.join(columns)} | seconds (CPU) |")
    print(f"|---|---|{'---|' * (len(columns) + 1)}")
    cells = sorted({(r["system"], r["direction"]) for r in records}, key=lambda c: (c[0], list(DIRECTIONS).index(c[1])))
    for system, direction in cells:
        own = [r for r in records if (r["system"], r["direction"]) == (system, direction)]
        with_stage = [r["test"] for r in own if r["second_stage"] is not None]
        vectors = statistics.mean(r["test"]["vectors_only"] for r in own)
        if not with_stage:
            print(f"| {system} | {direction} | {vectors:.2f} |{' |' * len(columns)}")
            continue
        keys = ("p_at_1", "recall", "calibration_error", "calibration_error_by_chance")
        mean = {key: statistics.mean(t[key] for t in with_stage) for key in keys}
        any_error = statistics.mean(t["any_right"][1]["calibration_error"] for t in with_stage)
        at_90 = statistics.mean(t["expected_precision"][1]["precision"] for t in with_stage)
        f1 = [statistics.mean(t["several"][key] for t in with_stage) for key in ("f1", "best_fixed_f1")]
        cost = [statistics.mean(r["seconds"][key] for r in own) for key in ("align_cpu", "second_stage_cpu")]
        signs = ", ".join(f"{t['wins']} : {t['losses']}" for t in with_stage)
        print(
            f"| {system} | {direction} | {vectors:.2f} | {mean['p_at_1']:.2f} | {mean['p_at_1'] - vectors:+.2f} | "
            f"{mean['recall']:.1f} | {signs} | {mean['calibration_error']:.3f} "
            f"({mean['calibration_error_by_chance']:.3f}) | {any_error:.3f} | {at_90:.3f} | "
            f"{f1[0]:.3f} | {f1[1]:.3f} | {cost[0]:.0f} + {cost[1]:.0f} |"
        )


def _lexicons(
    name: str, source: EmbeddingTable, target: EmbeddingTable, args: argparse.Namespace
) -> tuple[Lexicon, Lexicon]:
    """The train dictionary, and the one to evaluate on."""
    train = DIRECTIONS[name].train()
    if args.held_out:
        return train.split(0.2, rng_seed=12, among=train.index(source, target).sources)
    if not args.omw:
        return train, DIRECTIONS[name].test()
    frequent = frozenset(source.words[:OMW_ROWS]) - set(train.sources)
    pairs = Lexicon.read(SHARED / "data" / "dictionaries" / "omw" / f"{name}.tsv")
    return train, Lexicon.from_pairs(pair for pair in pairs if pair[0] in frequent)


def _kept(confidence: np.ndarray, right: np.ndarray, precision: float) -> dict[str, Any]:
    """The most confident words with this mean probability: how many, and the share of right ones."""
    order = np.argsort(-confidence, kind="stable")
    count = int((confidence[order].cumsum() / np.arange(1, len(order) + 1) >= precision).sum())
    return {"expected": precision, "words": count, "precision": float(right[order][:count].mean()) if count else 0.0}


def _any_right(ranked: Ranked, right: np.ndarray, n: int) -> dict[str, float]:
    """The probability that any of the first n candidates is right, and for how many words one is."""
    probability, found = ranked.any_right[:, n - 1], right[:, :n].any(1)
    error = calibration_error(probability, found)
    return {"n": n, "probability": _percent(probability), "right": _percent(found), "calibration_error": error}


def _f1(right: float, chosen: float, total: float) -> dict[str, float]:
    precision, recall = right / chosen, right / total
    return {"precision": float(precision), "recall": float(recall), "f1": float(2 * right / (chosen + total))}


def _errors(
    ranked: Ranked,
    right: np.ndarray,
    rows: list[int],
    gold: dict[int, list[int]],
    sources: list[str],
    targets: list[str],
) -> list[dict[str, Any]]:
    """Forty words whose first translation is wrong, spread over all of them."""
    wrong = (~right[:, 0]).nonzero()[0]
    return [
        {
            "word": sources[rows[i]],
            "found": targets[ranked.targets[i, 0]],
            "confidence": round(float(ranked.confidences[i, 0]), 3),
            "gold": [targets[j] for j in gold[rows[i]]],
            "rank": int(right[i].argmax()) + 1 if right[i].any() else None,
        }
        for i in wrong[:: max(1, len(wrong) // 40)]
    ]


def _percent(values: np.ndarray) -> float:
    return 100 * float(values.mean()) if len(values) else 0.0


def _write(path: Path, record: dict[str, Any]) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(record, ensure_ascii=False, indent=1, default=float) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
