"""Calibration: scores of the ranker as probabilities that a dictionary lists the pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.logistic import logistic_regression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.rerank.cross_fitting import Lists

INPUTS = ("score", "margin", "share", "csls", "source_rank", "target_rank", "difference")
COMMON = 5000
"""Rows up to here count nearly in proportion to their number, rarer words by the logarithm of it."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """p(c) = sigmoid(β₀ + Σⱼ βⱼ aⱼ(c)), a logistic regression on seven inputs of each candidate.

    They are the score s(c), its distance to the best other candidate, log softmax s(c), CSLS, log(5000 + row of the
    word), log(1 + row of c), and |log(1 + row of the word) − log(1 + row of c)|. The best candidate of a word and the
    others have regressions of their own: frequent words have more translations, but their first one is not more often
    right. Probabilities of a word need not sum to 1: it may have several translations, or none.

    The words of a dictionary are mostly frequent, those that are looked up are rarer. So what matters is how the inputs
    extend to rare words: the logarithm of the row itself hardly tells the rarest words of a dictionary from others, and
    the row itself grows without end.

    Platt (1999). Probabilistic outputs for support vector machines. Advances in large margin classifiers.
    """

    weights: NDArray[np.float64]
    """β of the standardized inputs, β₀ last, for the best candidate and for the others: (2, 8)."""
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def fit(cls, scores: NDArray[np.float64], lists: Lists) -> Calibration:
        """From words that the ranker was not fitted to.  scores: (q, c)."""
        inputs = _inputs(scores, lists.csls, lists.sources, lists.targets)
        means, deviations = inputs.mean(0), np.maximum(inputs.std(0), 1e-9)
        standardized = np.column_stack([(inputs - means) / deviations, np.ones(len(inputs))])
        is_best, right = _is_best(scores), lists.gold.reshape(-1)
        parts = (logistic_regression(standardized[part], right[part]) for part in (is_best, ~is_best))
        return cls(np.stack(list(parts)), means, deviations)

    def probabilities(
        self,
        scores: NDArray[np.float64],
        csls: NDArray[np.float64],
        sources: NDArray[np.int64],
        targets: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """scores, csls, targets and result: (q, c); sources: (q,)."""
        from scipy.special import expit

        standardized = (_inputs(scores, csls, sources, targets) - self.means) / self.deviations
        best, others = (standardized @ weights[:-1] + weights[-1] for weights in self.weights)
        probabilities: NDArray[np.float64] = expit(np.where(_is_best(scores), best, others))
        return probabilities.reshape(scores.shape)


def _is_best(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a candidate has the highest score of its word, line after line: (q c,)."""
    is_best: NDArray[np.bool_] = np.arange(scores.shape[1]) == scores.argmax(1)[:, None]
    return is_best.reshape(-1)


def _inputs(
    scores: NDArray[np.float64], csls: NDArray[np.float64], sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The inputs of each candidate, line after line: (q c, 7)."""
    from scipy.special import logsumexp

    ordered = np.sort(scores, axis=1)
    second = ordered[:, -2:-1] if scores.shape[1] > 1 else ordered[:, -1:]
    best_other = np.where(scores == ordered[:, -1:], second, ordered[:, -1:])
    share = scores - logsumexp(scores, axis=1, keepdims=True)
    rank, target_rank = np.log1p(sources)[:, None], np.log1p(targets)
    source_rank = np.broadcast_to(np.log(COMMON + sources)[:, None], scores.shape)
    columns = (scores, scores - best_other, share, csls, source_rank, target_rank, np.abs(rank - target_rank))
    return np.column_stack([column.reshape(-1) for column in columns])
