"""Success without a dictionary against noise: one real table, and itself under a hidden rotation.

    python benchmarks/noise_curve.py OUTPUT.jsonl [--systems vecmap_unsupervised,adversarial] [--noise 0,0.25,0.5,0.75]
        [--shuffle 0.2] [--table en] [--words 10000] [--rng-seeds 0] [--threads 2]

The target is x R + noise · |x| · e, with R a random rotation and e a random direction for each word (length 1), so that
noise 1 is as long as the word itself. Words are in another order: the rank of a word is multiplied by exp(shuffle · g),
g normal, and words are sorted again. A translation is right if it is the same word; 1,500 words are asked for, drawn
from all. Procrustes on 5,000 other words shows what is possible.

Each run is one line of OUTPUT. Runs that are in the file are not repeated. All results in OUTPUT are printed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bilex import AlignmentError, EmbeddingTable, Lexicon, align
from measuring import add_line, matching_lines, read_lines
from open_directions import World, load_table

SYSTEMS = "procrustes,vecmap_unsupervised,graph_cliques,rapo_unsupervised,adversarial,adversarial_autoencoder"


def main() -> None:
    """Do the missing runs, and print all results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--systems", default=SYSTEMS)
    parser.add_argument("--noise", default="0,0.25,0.5,0.75,1")
    parser.add_argument("--shuffle", type=float, default=0.2)
    parser.add_argument("--table", default="en")
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--rng-seeds", default="0")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for rng_seed in map(int, args.rng_seeds.split(",")):
        for noise in map(float, args.noise.split(",")):
            for system in filter(None, args.systems.split(",")):
                what = {"system": system, "noise": noise, "shuffle": args.shuffle, "rng_seed": rng_seed}
                what |= {"table": args.table, "words": args.words}
                if not matching_lines(args.output, what):
                    add_line(args.output, {**what, **measure(**what), "threads": args.threads})
    print_table(read_lines(args.output))


def make_world(table: EmbeddingTable, noise: float, shuffle: float, rng_seed: int) -> World:
    """The table, its rotated copy, and identical words to learn from and to be tested on."""
    random, (n, d) = np.random.default_rng(rng_seed), table.rows.shape
    rotation = np.linalg.qr(random.normal(size=(d, d)))[0]
    e = random.normal(size=(n, d))
    e *= noise * np.linalg.norm(table.rows, axis=1, keepdims=True) / np.linalg.norm(e, axis=1, keepdims=True)
    order = np.argsort(np.arange(1, n + 1) * np.exp(shuffle * random.normal(size=n)), kind="stable")
    rows = (table.rows @ rotation + e)[order].astype(np.float32)
    drawn = [(table.words[i], table.words[i]) for i in random.permutation(n)[:6500]]
    train, test = drawn[1500:], drawn[:1500]
    target = EmbeddingTable([table.words[i] for i in order], rows)
    return World(table, target, Lexicon.from_pairs(train), Lexicon.from_pairs(test))


def measure(*, system: str, noise: float, shuffle: float, rng_seed: int, table: str, words: int) -> dict[str, Any]:
    """P@1 and seconds; a run that did not converge has no P@1, but the agreement that it had."""
    world = make_world(load_table(table, words), noise, shuffle, rng_seed)
    train, started = world.train if system == "procrustes" else None, time.perf_counter()
    try:
        alignment = align(
            world.source, world.target, train, method=system, rng_seed=rng_seed, measured=False, vectors_only=True
        )
    except AlignmentError as error:
        return {"failed": str(error), "seconds": time.perf_counter() - started}
    seconds = time.perf_counter() - started
    return {"p_at_1": alignment.evaluate(world.test).scores.p_at_1, "seconds": seconds}


def print_table(records: list[dict[str, Any]]) -> None:
    """P@1 of each system for each noise; of several seeds, one after the other."""
    levels = sorted({record["noise"] for record in records})
    print(f"| P@1 | {' | '.join(f'noise {level:g}' for level in levels)} |")
    print(f"|---|{'---|' * len(levels)}")
    for system in dict.fromkeys(record["system"] for record in records):
        own = [[r for r in records if (r["system"], r["noise"]) == (system, level)] for level in levels]
        cells = [", ".join(f"{r['p_at_1']:.1f}" if "p_at_1" in r else "failed" for r in found) for found in own]
        print(f"| {system} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
