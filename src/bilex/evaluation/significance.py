"""Is one system better than another, or was it chance? Tests on the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 10_000


class SignTest(NamedTuple):
    """Words that only the first has right, words that only the second has, and the two-sided p-value."""

    wins: int
    losses: int
    p_value: float


class Interval(NamedTuple):
    """Where a figure lies, with the confidence asked for."""

    low: float
    high: float


def sign_test(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> SignTest:
    """Exact two-sided sign test.  first, second: (n,) whether each word was translated right.

    With n+ words that only the first has right and n- that only the second has, p = P(|B - N/2| >= |n+ - N/2|), B
    binomial with N = n+ + n- draws of probability 1/2. Words that both or neither has right count for neither.
    """
    from scipy.stats import binomtest

    wins, losses = int((first & ~second).sum()), int((second & ~first).sum())
    p_value = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return SignTest(wins, losses, p_value)


def bootstrap(
    differences: NDArray[np.float64], *, level: float = 0.95, resamples: int = RESAMPLES, rng_seed: int = 0
) -> Interval:
    """Paired bootstrap: percentile interval of the mean of differences (n,), one for each word.

    Words are drawn n times with replacement. There are few different differences, and how often each of them is drawn
    is multinomial: the counts are drawn instead of the words, which is the same and much less work.
    """
    values, counts = np.unique(differences, return_counts=True)
    n = len(differences)
    drawn = np.random.default_rng(rng_seed).multinomial(n, counts / n, size=resamples)
    low, high = np.quantile(drawn @ values / n, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def combine(p_values: Sequence[float]) -> float:
    """One p-value from K tests of the same question that depend on each other in any way, after Rüger (1978).

    p = K/m p(m), p(m) the m-th smallest, m = K/2 rounded up: the median, made larger by at most 2. One p-value stays as
    it is. If there is no difference, at least m of K tests are below a with a chance of at most K a / m (Markov).
    """
    middle = (len(p_values) + 1) // 2
    return min(1.0, len(p_values) / middle * sorted(p_values)[middle - 1])


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values of m tests made together, after Holm (1979), in the order given.

    Sorted, p(i) becomes max over j <= i of min(1, (m - j + 1) p(j)): the chance that any of those below a level is
    below it by accident is at most that level.
    """
    order = np.argsort(p_values, kind="stable")
    m = len(p_values)
    steps = np.minimum(1, np.arange(m, 0, -1) * np.asarray(p_values, dtype=float)[order])
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(steps)
    return [float(p) for p in adjusted]
