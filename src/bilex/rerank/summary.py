"""How well a second stage ranks words that were held out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bilex.evaluation.calibration import calibration_error

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict

    from numpy.typing import NDArray

THRESHOLD = 0.8
"""Entries with at least this probability are reported."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Figures over cross-fitted words: neither their mapping nor their ranker was trained on them."""

    words: int
    p_at_1: float
    """With all signals."""
    vectors_only: float
    """P@1 by vectors alone."""
    standard_error: float
    """Of the difference of both, in points."""
    recall: float
    """Percentage of words with a right translation among the candidates."""
    calibration_error: float
    """Of the probabilities of the first translations."""
    confident: float
    """Share of words whose first translation has a probability of at least `THRESHOLD`."""
    confident_right: float
    """Share of right ones among these."""
    min_confidence: float
    """The probability from which on further translations of a word give the best F1."""
    left_out: dict[str, str]
    """Signals that do not apply, and why."""

    @property
    def gain(self) -> float:
        """P@1 above that of the vectors, in points."""
        return self.p_at_1 - self.vectors_only

    @classmethod
    def of(
        cls,
        scores: NDArray[np.float64],
        confidences: NDArray[np.float64],
        gold: NDArray[np.bool_],
        total: NDArray[np.int64],
        left_out: dict[str, str],
    ) -> Self:
        """From the scores of held-out words.  scores, confidences, gold: (q, c), best first by vectors; total: (q,)."""
        best, places = scores.argmax(1), np.arange(len(scores))
        right, before = gold[places, best], gold[:, 0]
        confidence = confidences[places, best]
        sure = confidence >= THRESHOLD
        differences = right.astype(np.float64) - before
        return cls(
            words=len(gold),
            p_at_1=100 * float(right.mean()),
            vectors_only=100 * float(before.mean()),
            standard_error=100 * float(differences.std()) / len(gold) ** 0.5,
            recall=100 * float(gold.any(1).mean()),
            calibration_error=calibration_error(confidence, right),
            confident=float(sure.mean()),
            confident_right=float(right[sure].mean()) if sure.any() else 0.0,
            min_confidence=_best_threshold(confidences, gold, total),
            left_out=left_out,
        )

    @classmethod
    def read(cls, found: Dict[str, Any]) -> Self:
        """From alignment.json; other keys are ignored."""
        return cls(**{field.name: found[field.name] for field in fields(cls)})

    def to_json(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def _best_threshold(confidences: NDArray[np.float64], gold: NDArray[np.bool_], total: NDArray[np.int64]) -> float:
    """The probability t with the best F1 of {first of each word} ∪ {probability >= t} over all right translations."""
    first = confidences.argmax(1)[:, None] == np.arange(confidences.shape[1])

    def f1(threshold: float) -> float:
        chosen = first | (confidences >= threshold)
        return 2 * float((chosen & gold).sum()) / float(chosen.sum() + total.sum())

    return float(max(np.arange(0.1, 0.91, 0.05).round(2), key=f1))
