"""Whether any of the first candidates of a word is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.logistic import logistic_regression

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 1e-6
"""Probabilities are at least this, and at most 1 less this."""


@dataclass(frozen=True, eq=False)
class AnyRight:
    """p(one of c₁ … cₙ is right) = sigmoid(αₙ logit(1 − Π_{i ≤ n} (1 − p(cᵢ))) + βₙ), candidates best first.

    If candidates were right independently of each other, α would be 1 and β 0. So this is where the regression starts,
    and where it stays if it has learnt from few words. For n = 1 it is p(c₁) itself.
    """

    weights: NDArray[np.float64]
    """α and β of each n: (c, 2)."""

    @classmethod
    def fit(cls, confidences: NDArray[np.float64], gold: NDArray[np.bool_]) -> AnyRight:
        """From words that neither ranker nor calibration were fitted to.  confidences, gold: (q, c), best first."""
        independent, right = np.array([1.0, 0.0]), np.logical_or.accumulate(gold, axis=1)
        weights = [
            logistic_regression(np.column_stack([logits, np.ones(len(logits))]), right[:, n], prior=independent)
            for n, logits in enumerate(_logits(confidences).T)
        ]
        return cls(np.stack([independent, *weights[1:]]))

    def probabilities(self, confidences: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each number n of first candidates: (q, c), as the confidences, best first.  It never falls with n."""
        from scipy.special import expit

        slopes, offsets = self.weights[: confidences.shape[1]].T
        found: NDArray[np.float64] = np.maximum.accumulate(expit(slopes * _logits(confidences) + offsets), axis=1)
        return found


def _logits(confidences: NDArray[np.float64]) -> NDArray[np.float64]:
    """log-odds of 1 − Π_{i ≤ n} (1 − p(cᵢ)): (q, c)."""
    none = np.cumprod(1 - np.clip(confidences, LEAST, 1 - LEAST), axis=1).clip(LEAST)
    logits: NDArray[np.float64] = np.log(1 - none) - np.log(none)
    return logits
