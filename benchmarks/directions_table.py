"""P@1 of systems on the open directions: mean and standard deviation over random seeds.

    python benchmarks/directions_table.py OUTPUT.jsonl [--systems "vecmap,rcsls,rapo"] [--directions en-fr,en-fi]
        [--rng-seeds 0,1,2] [--pairs 500] [--noise 1] [--threads 2] [--published]

A system is a method with settings, such as "rapo activation=tanh". With --pairs it is trained on this many pairs of the
train dictionary, with different source words, sampled with the seed. An unsupervised method gets no dictionary. With
--noise the vectors are poorer: a random vector of this length, relative to its own, is added to the vector of each word
of both languages (the same random vectors for all systems).

Each run is one line of OUTPUT. Runs that are in the file are not repeated, so a table can be interrupted and extended,
or computed by two processes that share the file. Without systems nothing is run. At the end all results in OUTPUT are
printed as a Markdown table. With --published, figures of the RAPO paper stand below the same system. They are for other
vectors (fastText, Wikipedia) and other tables; bilex.bench has all of them.

A method with model selection holds out a tenth of the source words of train; all others train on the whole dictionary.
The test dictionary is only used for evaluation. A run that did not converge is a line without scores. A deterministic
method is run with one seed only.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bilex import AlignmentError, EmbeddingTable, align, get_method
from bilex.bench.inputs import some_pairs
from bilex.bench.report.published import published
from measuring import add_line, read_lines
from open_directions import DIRECTIONS


def main() -> None:
    """Do the missing runs, and print all results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--systems", default="", help="separated by commas")
    parser.add_argument("--directions", default=",".join(DIRECTIONS))
    parser.add_argument("--rng-seeds", default="0")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--published", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for rng_seed in map(int, args.rng_seeds.split(",")):
        for direction in args.directions.split(","):
            for system in filter(None, args.systems.split(",")):
                run(args.output, system, direction, rng_seed, pairs=args.pairs, noise=args.noise)
    print_table(read_lines(args.output), published() if args.published else {})


def run(output: Path, system: str, direction: str, rng_seed: int, *, pairs: int | None, noise: float) -> None:
    """Do one run unless OUTPUT has it, and append its line."""
    name, *settings = system.split()
    method = get_method(name, dict(setting.split("=", 1) for setting in settings))
    rng_seed = rng_seed if method.uses_dev or not method.needs_pairs or pairs is not None else 0
    if any(_key(known) == (system, pairs, noise, direction, rng_seed) for known in read_lines(output)):
        return
    source, target = (with_noise(table, noise) for table in DIRECTIONS[direction].load())
    train = DIRECTIONS[direction].train() if method.needs_pairs else None
    if train is not None and pairs is not None:
        train = some_pairs(train, source, target, pairs, rng_seed)
    started = time.perf_counter()
    record: dict[str, Any] = {"system": system, "pairs": pairs, "direction": direction, "rng_seed": rng_seed}
    record |= {"noise": noise} if noise else {}
    try:
        alignment = align(source, target, train, method=method, rng_seed=rng_seed, measured=False, vectors_only=True)
    except AlignmentError as error:
        record |= {"failed": str(error), "seconds": time.perf_counter() - started}
    else:
        record["seconds"] = time.perf_counter() - started
        result = alignment.evaluate(DIRECTIONS[direction].test()).to_json()
        record |= {key: result[key] for key in ("p_at_1", "p_at_5", "p_at_10", "mrr", "covered", "p_at_1_all")}
        for key, told in (("epochs", "chosen"), ("kept_round", "kept_round")):
            if found := [r[told] for r in alignment.trace.records if told in r]:
                record[key] = found[-1]
        record["rounds"] = [r for r in alignment.trace.records if "induced" in r]
    record["threads"] = torch.get_num_threads()
    record["peak_gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    add_line(output, record)


def with_noise(table: EmbeddingTable, noise: float) -> EmbeddingTable:
    """X + noise · |x| · e, with e a random direction for each word."""
    if not noise:
        return table
    e = np.random.default_rng(len(table)).standard_normal(table.rows.shape, dtype=np.float32)
    e *= noise * np.linalg.norm(table.rows, axis=1, keepdims=True) / np.linalg.norm(e, axis=1, keepdims=True)
    return EmbeddingTable(table.words, table.rows + e)


def print_table(records: list[dict[str, Any]], beside: dict[str, dict[str, float]]) -> None:
    """Table of systems by directions: mean P@1, with the standard deviation if there are several seeds."""
    systems = list(dict.fromkeys(_label(record) for record in records))
    directions = [name for name in DIRECTIONS if any(record["direction"] == name for record in records)]
    print(f"| P@1 | {' | '.join(directions)} | mean | seconds |")
    print(f"|---|{'---|' * (len(directions) + 2)}")
    for system in systems:
        own = {d: [r for r in records if (_label(r), r["direction"]) == (system, d)] for d in directions}
        cells = [_cell([record.get("p_at_1") for record in found]) for found in own.values()]
        scores = [[r["p_at_1"] for r in found if "p_at_1" in r] for found in own.values()]
        means = [statistics.mean(found) for found in scores if found]
        mean = f"{statistics.mean(means):.2f}" if len(means) == len(directions) else "-"
        seconds = statistics.mean(r["seconds"] for found in own.values() for r in found if r["seconds"] is not None)
        print(f"| {system} | {' | '.join(cells)} | {mean} | {seconds:.0f} |")
        if figures := beside.get(system):
            print(
                f"| *published* | {' | '.join(f'{figures[d]:.1f}' if d in figures else '' for d in directions)} | | |"
            )


def _cell(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "failed" if values else "-"
    spread = f" ± {statistics.stdev(known):.2f}" if len(known) > 1 else ""
    failed = f" ({len(values) - len(known)} failed)" if len(known) < len(values) else ""
    return f"{statistics.mean(known):.2f}{spread}{failed}"


def _label(record: dict[str, Any]) -> str:
    pairs, noise = record.get("pairs"), record.get("noise")
    label = record["system"] if pairs is None else f"{record['system']}, {pairs} pairs"
    return f"{label}, noise {noise:g}" if noise else label


def _key(record: dict[str, Any]) -> tuple[str, int | None, float, str, int]:
    return record["system"], record.get("pairs"), record.get("noise", 0.0), record["direction"], record["rng_seed"]


if __name__ == "__main__":
    main()
