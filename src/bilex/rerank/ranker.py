"""The ranker: a weighted sum of all columns, learnt with a listwise softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_SPREAD = 1e-9
"""A column with a smaller standard deviation is constant, and gets no weight."""


@dataclass(frozen=True, eq=False)
class LinearRanker:
    """score(c) = Σⱼ wⱼ (fⱼ(c) − mⱼ) / dⱼ,  m and d the mean and the standard deviation of column j."""

    names: tuple[str, ...]
    weights: NDArray[np.float64]
    """Per standard deviation, so that they can be compared: (f,)."""
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def fit(
        cls, names: tuple[str, ...], features: NDArray[np.float64], gold: NDArray[np.bool_], *, ridge: float
    ) -> LinearRanker:
        """Minimize −Σ_q log [Σ_{c right} exp s(c) / Σ_c exp s(c)] + λ ‖w‖², by Newton's method in a trust region.

        features: (q, c, f); gold: (q, c), the right candidates. Words without a right candidate are left out.
        """
        listed = gold.any(1)
        features, gold = features[listed], gold[listed]
        means, deviations = features.mean((0, 1)), features.std((0, 1))
        constant = deviations < MIN_SPREAD
        deviations = np.where(constant, 1.0, deviations)
        weights = _minimize((features - means) / deviations * ~constant, gold, ridge)
        return cls(names, weights, means, deviations)

    def scores(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """(q, c, f) → (q, c)."""
        scores: NDArray[np.float64] = self.shares(features).sum(2)
        return scores

    def shares(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of each column in the score: (q, c, f)."""
        shares: NDArray[np.float64] = (features - self.means) / self.deviations * self.weights
        return shares


def _minimize(features: NDArray[np.float64], gold: NDArray[np.bool_], ridge: float) -> NDArray[np.float64]:
    """The weights (f,) with the smallest loss.  features: (q, c, f); gold: (q, c).

    There are few columns, so a Newton step costs little, and ten or twenty are enough where L-BFGS takes hundreds.
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    lines = features.reshape(-1, features.shape[2])

    def scores(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Those of all candidates, and those of the right ones: (q, c) each."""
        all_scores = (lines @ weights).reshape(gold.shape)
        return all_scores, np.where(gold, all_scores, -np.inf)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        every, right = scores(weights)
        value = (logsumexp(every, axis=1) - logsumexp(right, axis=1)).sum() + ridge * weights @ weights
        slopes = softmax(every, axis=1) - softmax(right, axis=1)
        return float(value), lines.T @ slopes.reshape(-1) + 2 * ridge * weights

    def curvature(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Covariance of the columns among all candidates, less that among the right ones, over all words: (f, f)."""
        every, right = (softmax(values, axis=1) for values in scores(weights))
        means, right_means = ((share[:, None] @ features)[:, 0] for share in (every, right))
        squares = lines.T @ (lines * (every - right).reshape(-1, 1))
        found: NDArray[np.float64] = squares - means.T @ means + right_means.T @ right_means
        return found + 2 * ridge * np.eye(lines.shape[1])

    start = np.zeros(lines.shape[1])
    found: NDArray[np.float64] = minimize(loss, start, jac=True, hess=curvature, method="trust-exact").x
    return found
