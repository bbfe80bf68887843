"""Significance tests: is one system better than another on the same words?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 10_000


class SignTest(NamedTuple):
    """Words that only the first system translates right, words that only the second does, and the two-sided p-value."""

    wins: int
    losses: int
    p_value: float


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def sign_test(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> SignTest:
    """Exact two-sided sign test.  first, second: (n,) whether each word was translated right.

    p = P(|B - N/2| >= |n+ - N/2|) with B binomial, N = n+ + n- draws of probability 1/2; n+: words that only the first
    system has right, n-: words that only the second has right. All other words do not count.
    """
    from scipy.stats import binomtest

    wins, losses = int((first & ~second).sum()), int((second & ~first).sum())
    p_value = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return SignTest(wins, losses, p_value)


def bootstrap(
    differences: NDArray[np.float64], *, level: float = 0.95, resamples: int = RESAMPLES, rng_seed: int = 0
) -> Interval:
    """Paired bootstrap: percentile interval of the mean of differences (n,), one for each word.

    Words are drawn n times with replacement. The differences have few distinct values, so the number of draws of each
    value is drawn from a multinomial distribution instead, which is equivalent and much faster.
    """
    values, counts = np.unique(differences, return_counts=True)
    n = len(differences)
    drawn = np.random.default_rng(rng_seed).multinomial(n, counts / n, size=resamples)
    low, high = np.quantile(drawn @ values / n, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def combine(p_values: Sequence[float]) -> float:
    """One p-value from K tests of the same hypothesis with any dependence, after Rüger (1978).

    p = K/m p(m), with p(m) the m-th smallest and m = K/2 rounded up: the median times at most 2. One p-value is not
    changed. Under the null hypothesis, the probability that at least m of K tests are below a is at most K a / m
    (Markov).
    """
    middle = (len(p_values) + 1) // 2
    return min(1.0, len(p_values) / middle * sorted(p_values)[middle - 1])


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values of m tests, adjusted for multiple testing after Holm (1979), in the same order.

    Sorted, p(i) becomes max over j <= i of min(1, (m - j + 1) p(j)). The probability of any false positive at a level
    is then at most that level.
    """
    order = np.argsort(p_values, kind="stable")
    m = len(p_values)
    steps = np.minimum(1, np.arange(m, 0, -1) * np.asarray(p_values, dtype=float)[order])
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(steps)
    return [float(p) for p in adjusted]
