"""VecMap unsupervised, RCSLS and Procrustes refinement against dense NumPy versions of the same algorithms: seconds.

    python benchmarks/dense_numpy.py [--methods vecmap_unsupervised,rcsls,procrustes_refinement] [--direction en-fr]
        [--words N] [--rounds 3] [--whole] [--threads 2] [--repeat 3] [--json]

The dense versions are the algorithms as their papers describe them, with whole matrices of scores in float32 and
`np.partition`, each matrix used for as much as it is good for. Both begin with the same normalized tables and the same
pairs and have the same settings, our defaults; they take turns, and the least of several runs counts. Tables: en-fr,
20,000 by 19,994 words.

RCSLS: ten iterations; ours searches the neighbours of a word in several pairs once. Procrustes refinement: six rounds,
with the criterion that chooses one. Both versions give the same map, up to rounding; the relative difference is told.

VecMap unsupervised: ours is timed whole, once. The published algorithm has rounds among 20,000 words from the first on,
each score looked at with a probability that begins at 0.1 and is doubled when the objective has not grown by 1e-6 for
50 rounds. Five probabilities with at least 50 rounds each are at least 250 rounds, which take hours: some (--rounds)
are timed and the time for 250 is computed from them, which flatters the dense version. With --whole it is run to its
end instead. Ours has fewer rounds, most of them among 4,000 words, so that its rounds, too, are compared with dense
ones: of the same numbers of words and probabilities, and as many, as computed from some (no target). Chance makes the
maps of the two differ; that one round without chance finds the same pairs is checked.

The exit code is 1 below 3 times faster, for VecMap unsupervised below 4, or where the results differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from bilex import Trace, get_method
from bilex.induction.neighbours import Induction
from bilex.linalg.procrustes import procrustes
from bilex.normalize import Normalizer
from measuring import Target, begin, best_of, options, report, seconds, timed
from open_directions import DIRECTIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from bilex.methods.base import Method
    from bilex.methods.procrustes_refinement import ProcrustesRefinement
    from bilex.methods.rcsls import RCSLS

    Array = np.ndarray[Any, Any]

K = 10
FIRST, WORDS = 4000, 20_000
PATIENCE, GAIN = 50, 1e-6
LEVELS = 5
"""Probabilities: 0.1, 0.2, 0.4, 0.8, 1."""
SAME_MAP, SAME_PAIRS = 0.01, 0.999
"""Relative difference of two maps at most; share of pairs at least. Rounding decides between equals."""


class Problem(NamedTuple):
    """Normalized tables and the rows of the train pairs (p, 2), and the method that is given them."""

    method: Method
    x: torch.Tensor
    z: torch.Tensor
    pairs: torch.Tensor

    def fit(self, trace: Trace | None = None) -> torch.Tensor:
        """Ours: the matrix on the source side."""
        generator = torch.Generator().manual_seed(0)
        found = self.method.fit(self.x, self.z, self.pairs, dev=None, generator=generator, trace=trace or Trace())
        return found.arrays()["source_matrix"]

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The same for NumPy."""
        return self.x.numpy(), self.z.numpy(), self.pairs.numpy()


def main() -> int:
    """Compare the methods asked for."""
    parser = options(__doc__)
    parser.add_argument("--methods", default=",".join(COMPARE))
    parser.add_argument("--direction", default="en-fr")
    parser.add_argument("--words", type=int, help="of each table; all, unless it is given")
    parser.add_argument("--rounds", type=int, default=3, help="of dense VecMap that are timed")
    parser.add_argument("--whole", action="store_true", help="run dense VecMap to its end")
    args = begin(parser)
    figures: dict[str, Any] = {}
    targets: list[Target] = []
    for name in args.methods.split(","):
        problem = load(name, args)
        figures.setdefault("size", f"{len(problem.x)} x {len(problem.z)} x {problem.x.shape[1]}")
        figures.setdefault("threads", args.threads)
        found, wanted = COMPARE[name](problem, args)
        figures |= {f"{name}: {what}": value for what, value in found.items()}
        targets += wanted
    return report(figures, targets, args)


def load(name: str, args: argparse.Namespace) -> Problem:
    """The tables of a direction as a method takes them."""
    method, direction = get_method(name), DIRECTIONS[args.direction]
    tables = [table.head(args.words or len(table)) for table in direction.load()]
    x, z = (Normalizer.fit(torch.from_numpy(table.rows), method.normalize)[1] for table in tables)
    pairs = torch.from_numpy(direction.train().index(*tables).pairs) if method.needs_pairs else torch.empty(0, 2).long()
    return Problem(method, x, z, pairs)


def compare_maps(problem: Problem, args: argparse.Namespace) -> tuple[dict[str, Any], list[Target]]:
    """A method whose dense version finds the same map."""
    name, kept = problem.method.name, {}
    dense: Callable[..., Array] = {"rcsls": dense_rcsls, "procrustes_refinement": dense_refinement}[name]
    best = best_of(
        args.repeat,
        {
            "ours": lambda: kept.update(ours=problem.fit().numpy()),
            "dense": lambda: kept.update(dense=dense(problem.method, *problem.arrays)),
        },
    )
    difference = np.linalg.norm(kept["ours"] - kept["dense"]) / np.linalg.norm(kept["dense"])
    return {"pairs": len(problem.pairs), "ours (s)": best["ours"], "dense (s)": best["dense"]}, [
        Target(f"{name}: times faster than dense NumPy", round(best["dense"] / best["ours"], 2), at_least=3),
        Target(f"{name}: difference of the maps", float(difference), at_most=SAME_MAP),
    ]


def compare_vecmap(problem: Problem, args: argparse.Namespace) -> tuple[dict[str, Any], list[Target]]:
    """Ours whole against the published algorithm, and against as many dense rounds."""
    trace = Trace()
    ours = seconds(lambda: problem.fit(trace))
    x, z, _ = (array[:WORDS] for array in problem.arrays)
    first, start = timed(lambda: dense_start(x, z))
    number, rounds = timed(lambda: dense_rounds(x, z, first, None if args.whole else args.rounds))
    total = start + (rounds if args.whole else max(number, LEVELS * PATIENCE) * rounds / number)
    alike = start
    for record in trace.records:
        if "rounds" in record:
            words = int(record["words"])
            some = x[:words], z[:words], first[(first < words).all(1)]
            each = seconds(lambda some=some, keep=record["keep"]: dense_rounds(*some, args.rounds, keep)) / args.rounds
            alike += int(record["rounds"]) * each
    share = same_pairs(x, z, first)
    figures = {
        "ours (s)": ours,
        "ours: rounds": [(r["words"], r["keep"], r["rounds"]) for r in trace.records if "rounds" in r],
        "dense: start (s)": start,
        "dense: a round (s)": rounds / number,
        "dense: rounds": number if args.whole else f"{LEVELS * PATIENCE}, of which {number} timed",
        "dense, published rounds (s)": total,
        "dense, our rounds (s)": alike,
        "times faster than dense NumPy with our rounds": round(alike / ours, 2),
    }
    return figures, [
        Target("vecmap_unsupervised: times faster than dense NumPy", round(total / ours, 2), at_least=4),
        Target("vecmap_unsupervised: same pairs of a round", share, at_least=SAME_PAIRS),
    ]


COMPARE = {"vecmap_unsupervised": compare_vecmap, "rcsls": compare_maps, "procrustes_refinement": compare_maps}


def dense_rcsls(method: RCSLS, x: Array, z: Array, pairs: Array) -> Array:
    """Steps along the gradient of the CSLS criterion from the Procrustes map; halved where the loss has risen."""
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
    """Means of the K largest products of each query, and of the rows that these keys have (in another space)."""
    scores = queries @ keys.T
    places = np.argpartition(scores, -K, axis=1)[:, -K:]
    return np.take_along_axis(scores, places, 1).mean(1), (keys if rows is None else rows)[places].mean(1)


def dense_refinement(method: ProcrustesRefinement, x: Array, z: Array, pairs: Array) -> Array:
    """Procrustes, mutual neighbours by CSLS, Procrustes ...; the map with the highest mean cosine of translations."""
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


def dense_start(x: Array, z: Array) -> Array:
    """Pairs of the words with the most similar profiles."""
    return best_pairs(profiles(x[:FIRST]) @ profiles(z[:FIRST]).T, 1.0, np.random.default_rng(0))[0]


def dense_rounds(x: Array, z: Array, pairs: Array, most: int | None, keep: float = 0.1) -> int:
    """Rounds of a map and of pairs, at most so many, until nothing is left to chance or gained; their number."""
    rng, best, since, number = np.random.default_rng(0), -np.inf, 0, 0
    while number != most:
        scores = (x @ dense_procrustes(x[pairs[:, 0]], z[pairs[:, 1]])) @ z.T
        pairs, objective = best_pairs(scores, keep, rng)
        number, since = number + 1, since + 1
        if objective > best + GAIN:
            best, since = objective, 0
        if since > PATIENCE:
            if keep >= 1:
                break
            keep, since = min(1.0, 2 * keep), 0
    return number


def best_pairs(scores: Array, keep: float, rng: np.random.Generator) -> tuple[Array, float]:
    """The best target of each source and the best source of each target by CSLS, and the mean of the best cosines."""
    turned = np.ascontiguousarray(scores.T)
    objective = float((scores.max(1).mean() + turned.max(1).mean()) / 2)
    forward = best_column(scores, mean_of_largest(turned), keep, rng)
    backward = best_column(turned, mean_of_largest(scores), keep, rng)
    n, m = scores.shape
    return np.concatenate([np.stack([np.arange(n), forward], 1), np.stack([backward, np.arange(m)], 1)]), objective


def best_column(scores: Array, penalty: Array, keep: float, rng: np.random.Generator) -> Array:
    """The best column of each row, by CSLS, among those that chance lets it look at."""
    adjusted = scores - penalty / 2
    if keep < 1:
        adjusted *= rng.random(adjusted.shape, dtype=np.float32) < keep
    return adjusted.argmax(1)


def mean_of_largest(scores: Array) -> Array:
    """Of each row."""
    return np.partition(scores, -K, axis=1)[:, -K:].mean(1)


def same_pairs(x: Array, z: Array, pairs: Array) -> float:
    """The share of the pairs of one round without chance that both versions find."""
    source, target = torch.from_numpy(x), torch.from_numpy(z)
    mapped = source @ procrustes(source[pairs[:, 0]], target[pairs[:, 1]])
    found = Induction(max_rank=WORDS, k=K, direction="union")(mapped, target, torch.Generator()).pairs.numpy()
    expected, _ = best_pairs(mapped.numpy() @ z.T, 1.0, np.random.default_rng(0))
    return float((found == expected).all(1).mean())


def dense_procrustes(x: Array, z: Array) -> Array:
    """The orthogonal W that minimizes ‖XW − Z‖."""
    u, _, vt = np.linalg.svd(x.T @ z)
    return u @ vt


def profiles(x: Array) -> Array:
    """Sorted rows of (X Xᵀ)^½; unit, center, unit."""
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    rows = np.sort((u * s) @ u.T, axis=1)
    rows = rows / norms(rows)
    rows = rows - rows.mean(0)
    return rows / norms(rows)


def norms(rows: Array) -> Array:
    """Lengths of the rows, (n, 1)."""
    return np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    raise SystemExit(main())
