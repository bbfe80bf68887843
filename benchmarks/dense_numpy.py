"""Run time of VecMap unsupervised, RCSLS and Procrustes refinement, compared with dense NumPy versions.

    python benchmarks/dense_numpy.py [--methods vecmap_unsupervised,rcsls,procrustes_refinement] [--direction en-fr]
        [--words N] [--rounds 3] [--threads 2] [--repeat 3] [--json]

The dense versions (`dense.py`) follow the papers, with complete score matrices. Both versions start from the same
normalized tables and pairs, with the same settings (our defaults). Runs alternate, and the shortest of several counts.
Tables: en-fr, 20,000 by 19,994 words.

RCSLS: ten iterations. Our version searches the neighbours of a word once, even if it is in several pairs. Procrustes
refinement: six rounds, with the criterion that selects the best. Both versions give the same map up to rounding; the
relative difference is printed.

VecMap unsupervised: self-learning, from two tables to pairs. The dense version has the same initial profiles, the same
number of rounds and words, and the same dropout probabilities. Random numbers differ: the share of equal final pairs is
printed. One round without dropout must give the same pairs in both versions.

The published schedule uses 20,000 words from the first round on. It doubles the keep probability, 0.1 at first, when
the objective has not grown by 1e-6 for 50 rounds. So there are at least 250 rounds for five probabilities, which would
take the dense version an hour. Only some of these rounds (--rounds) are timed, for both versions, and our complete run
is compared with the time that 250 dense rounds would take.

The exit code is 1 below 3 times faster, with 250 published rounds below 4, or where the results differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from bilex import Trace, get_method
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.normalize import Normalizer
from dense import K, best_pairs, dense_rcsls, dense_refinement, dense_rounds, dense_self_learning, dense_start
from measuring import Target, best_of, make_parser, parse_arguments, report, time_call
from open_directions import DIRECTIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from bilex.methods.base import Method
    from dense import Array, Stage

WORDS, KEEP = 20_000, 0.1
PUBLISHED = 5 * 50
"""Rounds that the published schedule of VecMap has at least, 50 with each probability: 0.1, 0.2, 0.4, 0.8, 1."""
SAME_MAP, SAME_PAIRS = 0.01, 0.999
"""Relative difference of two maps at most; share of pairs at least. Rounding decides between equals."""


class Problem(NamedTuple):
    """Normalized tables and the rows of the train pairs (p, 2), and the method that is given them."""

    method: Method
    x: torch.Tensor
    z: torch.Tensor
    pairs: torch.Tensor

    def fit(self) -> torch.Tensor:
        """Ours: the matrix on the source side."""
        generator = torch.Generator().manual_seed(0)
        found = self.method.fit(self.x, self.z, self.pairs, dev=None, generator=generator, trace=Trace())
        return found.arrays()["source_matrix"]

    def induce(self, trace: Trace | None = None) -> torch.Tensor:
        """Ours, of VecMap unsupervised: the pairs that self-learning ends with."""
        generator = torch.Generator().manual_seed(0)
        return self.method.induce(self.x, self.z, self.pairs, generator=generator, trace=trace or Trace())

    def schedule(self) -> list[Stage]:
        """Words, probability and number of rounds of the stages of that."""
        trace = Trace()
        self.induce(trace)
        return [(r["words"], r["keep_probability"], r["rounds"]) for r in trace.records if "rounds" in r]

    def rounds(self, pairs: torch.Tensor, number: int) -> torch.Tensor:
        """Ours: rounds as in the beginning of the published schedule, from these pairs."""
        induction = Induction(max_rank=WORDS, k=K, direction="union", keep_probability=KEEP)
        generator, seed = torch.Generator().manual_seed(0), pairs[:0]
        return self.method._improve(self.x, self.z, pairs, seed, induction, generator, Trace(), rounds=number)

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The same for NumPy."""
        return self.x.numpy(), self.z.numpy(), self.pairs.numpy()


def main() -> int:
    """Compare the methods asked for."""
    parser = make_parser(__doc__)
    parser.add_argument("--methods", default=",".join(COMPARE))
    parser.add_argument("--direction", default="en-fr")
    parser.add_argument("--words", type=int, help="of each table; all, unless it is given")
    parser.add_argument("--rounds", type=int, default=3, help="of the published schedule of VecMap that are timed")
    args = parse_arguments(parser)
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
    """Ours against as many dense rounds, and against those of the published schedule."""
    x, z, _ = (array[:WORDS] for array in problem.arrays)
    kept, schedule = {}, problem.schedule()
    best = best_of(
        args.repeat,
        {
            "ours": lambda: kept.update(ours=problem.induce().numpy()),
            "dense": lambda: kept.update(dense=dense_self_learning(x, z, schedule)),
        },
    )
    first, start = time_call(lambda: dense_start(x, z))
    rng, rounds = np.random.default_rng(0), args.rounds
    each = best_of(
        args.repeat,
        {
            "ours": lambda: problem.rounds(torch.from_numpy(first), rounds),
            "dense": lambda: dense_rounds(x, z, first, rounds, KEEP, rng),
        },
    )
    published = start + PUBLISHED * each["dense"] / rounds
    figures = {
        "ours (s)": best["ours"],
        "dense (s)": best["dense"],
        "words, probability, rounds": schedule,
        "share of the pairs that are the same": float((kept["ours"] == kept["dense"]).all(1).mean()),
        "a published round, ours (s)": each["ours"] / rounds,
        "a published round, dense (s)": each["dense"] / rounds,
        f"{PUBLISHED} published rounds, dense (s)": published,
    }
    name = problem.method.name
    return figures, [
        Target(f"{name}: times faster than dense NumPy", round(best["dense"] / best["ours"], 2), at_least=3),
        Target(f"{name}: a published round, times faster", round(each["dense"] / each["ours"], 2), at_least=3),
        Target(f"{name}: times faster than as published", round(published / best["ours"], 2), at_least=4),
        Target(f"{name}: same pairs of a round", same_pairs(x, z, first), at_least=SAME_PAIRS),
    ]


def same_pairs(x: Array, z: Array, pairs: Array) -> float:
    """The share of the pairs of one round without chance that both versions find."""
    source, target = torch.from_numpy(x), torch.from_numpy(z)
    mapped = source @ procrustes(source[pairs[:, 0]], target[pairs[:, 1]])
    found = Induction(max_rank=WORDS, k=K, direction="union")(mapped, target, torch.Generator()).pairs.numpy()
    return float((found == best_pairs(mapped.numpy() @ z.T, 1.0, np.random.default_rng(0))).all(1).mean())


COMPARE = {"vecmap_unsupervised": compare_vecmap, "rcsls": compare_maps, "procrustes_refinement": compare_maps}


if __name__ == "__main__":
    raise SystemExit(main())
