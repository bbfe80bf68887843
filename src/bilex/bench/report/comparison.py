"""Compare systems on the same test words, with one significance test per direction."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from bilex.bench.report.metrics import MAIN
from bilex.evaluation.significance import bootstrap, combine, holm, sign_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bilex.bench.report.grid import Grid, Spot, System
    from bilex.evaluation.significance import SignTest

LEVELS = ((0.01, "‡"), (0.05, "†"))
"""Significance levels and their marks, strictest first; the level of the paper is 0.01."""
NOTE = (
    "p-values: exact two-sided sign test over the test words that only one of the two systems has right at rank 1, "
    "with Holm's correction for the tested directions. With several random seeds, each seed is tested (a system with "
    "one seed against each seed of the other), and the p-values are combined by Rüger's method (of K p-values the m-th "
    "smallest, times K/m; m is half of K, rounded up). Words won and lost are means over the seeds. 95 % confidence "
    "intervals: paired bootstrap over the words, 10,000 resamples; they do not include the variation between seeds."
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """P@1 of two systems on one direction, in points, and the significance of the difference."""

    direction: str
    first: str
    second: str
    p_at_1: tuple[float, float]
    low: float
    high: float
    tests: dict[int, SignTest]
    """Tests by random seed of the system that has more seeds."""
    p_value: float
    p_holm: float
    lost: int
    """Number of seeds of the first system without scores."""

    @property
    def difference(self) -> float:
        """Points by which the first is better."""
        return self.p_at_1[0] - self.p_at_1[1]

    @property
    def wins(self) -> float:
        """Words that only the first system has right, mean over the seeds."""
        return statistics.mean(test.wins for test in self.tests.values())

    @property
    def losses(self) -> float:
        """Words that only the second system has right, mean over the seeds."""
        return statistics.mean(test.losses for test in self.tests.values())

    @property
    def mark(self) -> str:
        """Mark of the strictest level at which the first is significantly better; none if a seed of it failed."""
        if self.lost or self.difference <= 0 or self.wins <= self.losses:
            return ""
        return next((mark for level, mark in LEVELS if self.p_holm < level), "")

    @property
    def worse(self) -> bool:
        """Whether the first is significantly worse, at the strictest level."""
        return self.difference < 0 and self.wins < self.losses and self.p_holm < LEVELS[0][0]


def compare(grid: Grid, first: str, second: str) -> list[Comparison]:
    """Two systems on every direction where both were tested on the same words."""
    one, other = grid.system(first), grid.system(second)
    return _tested((direction, one, other) for direction in grid.directions)


def margins(grid: Grid, patterns: Sequence[str]) -> list[Comparison]:
    """Each system whose label or method matches a pattern, against its best peer: the best system without a match.

    A peer has no more dictionary pairs than the system, and finds pairs itself only if the system does so too. The
    p-values of each system are corrected for its directions.
    """
    named = [system for system in grid.systems if system.honest and fits(system, patterns)]
    others = [system for system in grid.systems if not fits(system, patterns)]
    found: list[Comparison] = []
    for system in named:
        peers = [p for p in others if p.given <= system.given and p.finds_pairs <= system.finds_pairs]
        best = ((direction, best_system(peers, direction)) for direction in grid.directions)
        found += _tested((direction, system, peer) for direction, peer in best if peer is not None)
    return found


def leaders(grid: Grid) -> list[Comparison]:
    """The best system of each direction against the best of the others."""
    pairs = []
    for direction in grid.directions:
        first = best_system(grid.systems, direction, complete=True)
        second = best_system([system for system in grid.systems if system is not first], direction)
        if first is not None and second is not None:
            pairs.append((direction, first, second))
    return _tested(pairs)


def fits(system: System, patterns: Sequence[str]) -> bool:
    """Whether a pattern such as rapo* matches its label or its method."""
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in (system.label, system.method))


def best_system(systems: Sequence[System], direction: str, *, complete: bool = False) -> System | None:
    """The system with the highest mean over its seeds; with `complete` only among systems without a failed seed.

    Systems that made choices on the test dictionary are left out.
    """
    known = [
        (mean, system)
        for system in systems
        if system.honest and (system.at(direction).complete or not complete)
        if (mean := system.at(direction).mean(MAIN)) is not None
    ]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def _tested(pairs: Iterable[tuple[str, System, System]]) -> list[Comparison]:
    """The comparisons on equal test words, with p-values corrected for their number."""
    made = [_compare(*pair) for pair in pairs if _comparable(pair[1].at(pair[0]), pair[2].at(pair[0]))]
    corrected = holm([comparison.p_value for comparison in made])
    return [replace(comparison, p_holm=p) for comparison, p in zip(made, corrected, strict=True)]


def _comparable(first: Spot, second: Spot) -> bool:
    return first.words is not None and first.words == second.words


def _compare(direction: str, first: System, second: System) -> Comparison:
    one, other = first.at(direction), second.at(direction)
    right = one.right(), other.right()
    interval = bootstrap(right[0] - right[1])
    tests = _by_seed(one, other)
    p_value = combine([test.p_value for test in tests.values()])
    return Comparison(
        direction=direction,
        first=first.label,
        second=second.label,
        p_at_1=(100 * float(right[0].mean()), 100 * float(right[1].mean())),
        low=100 * interval.low,
        high=100 * interval.high,
        tests=tests,
        p_value=p_value,
        p_holm=p_value,
        lost=one.lost,
    )


def _by_seed(first: Spot, second: Spot) -> dict[int, SignTest]:
    """Tests of equal seeds; of a system with one seed against each seed of the other; else in seed order."""
    hits = [{cell.rng_seed: np.array(cell.ranks) == 1 for cell in spot.done} for spot in (first, second)]
    one, other = hits
    if len(one) == 1 or len(other) == 1:
        seeds = one if len(one) > 1 else other
        one, other = (dict.fromkeys(seeds, *found.values()) if len(found) == 1 else found for found in hits)
    elif not one.keys() & other.keys():
        other = dict(zip(one, other.values(), strict=False))
    return {seed: sign_test(one[seed], other[seed]) for seed in one if seed in other}
