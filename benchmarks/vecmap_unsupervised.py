"""VecMap without a dictionary against a dense NumPy version of the published algorithm: seconds.

    python benchmarks/vecmap_unsupervised.py [--direction en-fr] [--threads 2] [--iterations 3] [--whole]

The dense version is the algorithm as its paper describes it: similarity profiles of 4,000 words, then rounds of an
orthogonal map and of pairs among 20,000 words per language from whole matrices of scores, each score looked at with a
probability that begins at 0.1 and is doubled when the objective has not grown by 1e-6 for 50 rounds. Five probabilities
with at least 50 rounds each are at least 250 rounds, which take hours: some are timed and the time for 250 is
computed from them, which flatters the dense version. With --whole it is run to its end instead.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from bilex import align, get_method
from open_directions import DIRECTIONS

FIRST, WORDS, K = 4000, 20_000, 10
PATIENCE, GAIN = 50, 1e-6
LEVELS = 5
"""Probabilities: 0.1, 0.2, 0.4, 0.8, 1."""


def main() -> None:
    """Time both, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--direction", default="en-fr")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)  # NumPy's own threads are set by OMP_NUM_THREADS before it starts
    direction = DIRECTIONS[args.direction]
    source, target = direction.load()
    started = time.perf_counter()
    alignment = align(source, target, None, method=get_method("vecmap_unsupervised"), rng_seed=0)
    ours = time.perf_counter() - started
    print(f"ours: {ours:.0f} s, P@1 {alignment.evaluate(direction.test()).scores.p_at_1:.2f}", flush=True)
    x, z = (normalize(np.array(table.rows[:WORDS])) for table in (source, target))
    start, rounds, number = dense(x, z, None if args.whole else args.iterations)
    total = start + (rounds if args.whole else LEVELS * PATIENCE * rounds / number)
    print(f"dense: start {start:.0f} s, {rounds / number:.1f} s per round, {total:.0f} s in all")
    print(f"ratio: {total / ours:.1f}")


def dense(x: np.ndarray, z: np.ndarray, most: int | None) -> tuple[float, float, int]:
    """Seconds of the start, seconds of the rounds, and their number."""
    rng = np.random.default_rng(0)
    started = time.perf_counter()
    pairs = best_pairs(profiles(x[:FIRST]) @ profiles(z[:FIRST]).T, 1.0, rng)[0]
    start = time.perf_counter() - started
    keep, best, since, number = 0.1, -np.inf, 0, 0
    started = time.perf_counter()
    while number != most:
        u, _, vt = np.linalg.svd(x[pairs[:, 0]].T @ z[pairs[:, 1]])
        pairs, objective = best_pairs((x @ (u @ vt)) @ z.T, keep, rng)
        number, since = number + 1, since + 1
        if objective > best + GAIN:
            best, since = objective, 0
        if since > PATIENCE:
            if keep >= 1:
                break
            keep, since = min(1.0, 2 * keep), 0
    return start, time.perf_counter() - started, number


def best_pairs(scores: np.ndarray, keep: float, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """The best target of each source and the best source of each target by CSLS, and the mean of the best cosines."""
    objective = float((scores.max(1).mean() + scores.max(0).mean()) / 2)
    forward, backward = best_of(scores, keep, rng), best_of(scores.T, keep, rng)
    n, m = scores.shape
    pairs = np.concatenate([np.stack([np.arange(n), forward], 1), np.stack([backward, np.arange(m)], 1)])
    return pairs, objective


def best_of(scores: np.ndarray, keep: float, rng: np.random.Generator) -> np.ndarray:
    """The best column of each row, by CSLS, among those that chance lets it look at."""
    penalty = np.partition(scores, len(scores) - K, axis=0)[-K:].mean(0)
    adjusted = scores - penalty / 2
    if keep < 1:
        adjusted *= rng.random(adjusted.shape, dtype=np.float32) < keep
    return adjusted.argmax(1)


def profiles(x: np.ndarray) -> np.ndarray:
    """Sorted rows of (X Xᵀ)^½, normalized."""
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return normalize(np.sort((u * s) @ u.T, axis=1))


def normalize(rows: np.ndarray) -> np.ndarray:
    """Unit, center, unit."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows - rows.mean(0)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


if __name__ == "__main__":
    main()
