"""Calibration: scores of the ranker as probabilities that a dictionary lists the pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

INPUTS = ("score", "margin", "share", "csls", "frequency")
RIDGE = 1.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """p(c) = sigmoid(β₀ + Σⱼ βⱼ aⱼ(c)), a logistic regression on five inputs of each candidate.

    They are the score s(c), its distance to the best other candidate, log softmax s(c), CSLS, and log(1 + row of the
    word). The best candidate of a word and the others have regressions of their own: frequent words have more
    translations, but their first one is not more often right. Probabilities of a word need not sum to 1: it may have
    several translations, or none.

    Platt (1999). Probabilistic outputs for support vector machines. Advances in large margin classifiers.
    """

    weights: NDArray[np.float64]
    """β of the standardized inputs, β₀ last, for the best candidate and for the others: (2, 6)."""
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        scores: NDArray[np.float64],
        csls: NDArray[np.float64],
        sources: NDArray[np.int64],
        gold: NDArray[np.bool_],
    ) -> Calibration:
        """From words that the ranker was not fitted to.  scores, csls and gold: (q, c); sources: (q,)."""
        inputs = _inputs(scores, csls, sources)
        means, deviations = inputs.mean(0), np.maximum(inputs.std(0), 1e-9)
        standardized = np.column_stack([(inputs - means) / deviations, np.ones(len(inputs))])
        is_best, right = _is_best(scores), gold.reshape(-1)
        parts = (_logistic_regression(standardized[part], right[part]) for part in (is_best, ~is_best))
        return cls(np.stack(list(parts)), means, deviations)

    def probabilities(
        self, scores: NDArray[np.float64], csls: NDArray[np.float64], sources: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """(q, c)."""
        from scipy.special import expit

        standardized = (_inputs(scores, csls, sources) - self.means) / self.deviations
        best, others = (standardized @ weights[:-1] + weights[-1] for weights in self.weights)
        probabilities: NDArray[np.float64] = expit(np.where(_is_best(scores), best, others))
        return probabilities.reshape(scores.shape)


def _is_best(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a candidate has the highest score of its word, line after line: (q c,)."""
    is_best: NDArray[np.bool_] = np.arange(scores.shape[1]) == scores.argmax(1)[:, None]
    return is_best.reshape(-1)


def _inputs(scores: NDArray[np.float64], csls: NDArray[np.float64], sources: NDArray[np.int64]) -> NDArray[np.float64]:
    """The inputs of each candidate, line after line: (q c, 5)."""
    from scipy.special import logsumexp

    ordered = np.sort(scores, axis=1)
    second = ordered[:, -2:-1] if scores.shape[1] > 1 else ordered[:, -1:]
    best_other = np.where(scores == ordered[:, -1:], second, ordered[:, -1:])
    share = scores - logsumexp(scores, axis=1, keepdims=True)
    frequency = np.broadcast_to(np.log1p(sources)[:, None], scores.shape)
    columns = (scores, scores - best_other, share, csls, frequency)
    return np.column_stack([column.reshape(-1) for column in columns])


def _logistic_regression(inputs: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The weights that minimize the negative log-likelihood + λ ‖β‖² / 2.  inputs: (n, a), the last column is 1."""
    from scipy.optimize import minimize
    from scipy.special import expit

    signs = np.where(right, 1.0, -1.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (inputs @ weights)
        penalized = weights * np.append(np.ones(len(weights) - 1), 0)
        gradient = -inputs.T @ (signs * expit(-margins)) + RIDGE * penalized
        return float(np.logaddexp(0, -margins).sum() + RIDGE * penalized @ penalized / 2), gradient

    weights: NDArray[np.float64] = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B").x
    return weights
