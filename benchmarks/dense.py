"""VecMap unsupervised, RCSLS and Procrustes refinement in dense NumPy, as baselines for `dense_numpy.py`.

The algorithms follow their papers, with complete score matrices in float32 and `np.partition`. Each matrix is reused
as often as possible. VecMap begins with the similarity profiles of `bilex`, which cost more than the published ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.induction.initial import BANDS, POWERS, _rank_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bilex.methods.procrustes_refinement import ProcrustesRefinement
    from bilex.methods.rcsls import RCSLS

    Array = np.ndarray[Any, Any]
    Stage = tuple[int, float, int]

K = 10
FIRST = 4000


def dense_rcsls(method: RCSLS, x: Array, z: Array, pairs: Array) -> Array:
    """Gradient descent on the CSLS loss from the Procrustes map. The step is halved when the loss rises."""
    x_d, z_d = x[pairs[:, 0]], z[pairs[:, 1]]
    w, rate, before = dense_procrustes(x_d, z_d), method.learning_rate, np.inf
    for _ in range(method.iterations):
        mapped = x_d @ w
        values_z, mean_z = nearest(mapped, z)
        values_x, mean_x = nearest(z_d, x @ w, x)
        loss = -(2 * (mapped * z_d).sum(1) - values_z - values_x).mean()
        gradient = -(x_d.T @ (2 * z_d - mean_z) - mean_x.T @ z_d) / len(pairs)
        rate = rate / 2 if loss > before else rate
        w, before = w - rate * gradient, loss
    return w


def nearest(queries: Array, keys: Array, rows: Array | None = None) -> tuple[Array, Array]:
    """Mean of the K largest products of each query, and mean of the rows of these keys (in another space)."""
    scores = queries @ keys.T
    places = np.argpartition(scores, -K, axis=1)[:, -K:]
    return np.take_along_axis(scores, places, 1).mean(1), (keys if rows is None else rows)[places].mean(1)


def dense_refinement(method: ProcrustesRefinement, x: Array, z: Array, pairs: Array) -> Array:
    """Alternate Procrustes and mutual CSLS neighbours. Returns the map with the highest mean cosine of translations."""
    unit_z, most, best = z / norms(z), method.induction.max_rank, -np.inf
    for _ in range(method.rounds + 1):
        w = dense_procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
        mapped = x @ w
        scores = (mapped / norms(mapped)) @ unit_z.T
        turned = np.ascontiguousarray(scores.T)
        forward = (scores[:most] - mean_of_largest(turned) / 2).argmax(1)
        backward = (turned[:most] - mean_of_largest(scores) / 2).argmax(1)
        sources = np.flatnonzero(forward < most)
        cosine = scores[sources, forward[sources]].mean()
        if cosine > best:
            best, kept = cosine, w
        sources = sources[backward[forward[sources]] == sources]
        pairs = np.stack([sources, forward[sources]], 1)
    return kept


def dense_self_learning(x: Array, z: Array, schedule: Sequence[Stage]) -> Array:
    """Pairs of unsupervised VecMap, from similar profiles. schedule: stages of (words, probability, rounds)."""
    rng, pairs = np.random.default_rng(0), dense_start(x, z)
    for words, keep, rounds in schedule:
        pairs = dense_rounds(x[:words], z[:words], pairs, rounds, keep, rng)
    return pairs


def dense_start(x: Array, z: Array) -> Array:
    """Initial pairs: the words with the most similar profiles."""
    return best_pairs(profiles(x[:FIRST]) @ profiles(z[:FIRST]).T, 1.0, np.random.default_rng(0))


def dense_rounds(x: Array, z: Array, pairs: Array, rounds: int, keep: float, rng: np.random.Generator) -> Array:
    """Rounds of self-learning: fit a map, then induce pairs. Returns the last pairs."""
    for _ in range(rounds):
        pairs = best_pairs((x @ dense_procrustes(x[pairs[:, 0]], z[pairs[:, 1]])) @ z.T, keep, rng)
    return pairs


def best_pairs(scores: Array, keep: float, rng: np.random.Generator) -> Array:
    """The best target of each source and the best source of each target by CSLS."""
    turned = np.ascontiguousarray(scores.T)
    forward = best_column(scores, mean_of_largest(turned), keep, rng)
    backward = best_column(turned, mean_of_largest(scores), keep, rng)
    n, m = scores.shape
    return np.concatenate([np.stack([np.arange(n), forward], 1), np.stack([backward, np.arange(m)], 1)])


def best_column(scores: Array, penalty: Array, keep: float, rng: np.random.Generator) -> Array:
    """The best column of each row by CSLS, among a random selection (each score is kept with probability `keep`)."""
    adjusted = scores - penalty / 2
    if keep < 1:
        adjusted *= rng.random(adjusted.shape, dtype=np.float32) < keep
    return adjusted.argmax(1)


def mean_of_largest(scores: Array) -> Array:
    """Mean of the K largest scores of each row."""
    return np.partition(scores, -K, axis=1)[:, -K:].mean(1)


def dense_procrustes(x: Array, z: Array) -> Array:
    """The orthogonal W that minimizes ‖XW − Z‖."""
    u, _, vt = np.linalg.svd(x.T @ z)
    return u @ vt


def profiles(x: Array) -> Array:
    """Similarity profiles: sorted rows of U S^p Uᵀ, within bands of ranks, for three powers p, and a rank code."""
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    parts = [normalized(np.hstack(sorted_bands((u * s**power) @ u.T))) for power in POWERS]
    rows = np.hstack([normalized(np.hstack(parts)), _rank_code(len(x)).numpy()])
    return rows / norms(rows)


def sorted_bands(similarities: Array) -> list[Array]:
    """Sorted similarities of each band of ranks. All bands have the same weight."""
    bands = np.split(similarities, [edge for edge in BANDS if edge < len(similarities)], axis=1)
    return [np.sort(band, axis=1) / np.float32(band.shape[1] ** 0.5) for band in bands]


def normalized(rows: Array) -> Array:
    """Unit, center, unit."""
    rows = rows / norms(rows)
    rows = rows - rows.mean(0)
    return rows / norms(rows)


def norms(rows: Array) -> Array:
    """Lengths of the rows, (n, 1)."""
    return np.linalg.norm(rows, axis=1, keepdims=True)
