"""How the candidate translates back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Backward(Signal):
    """−log(1 + rank of the word among the candidate's best), whether it is the best, and s(q, c) − s(best, c)."""

    name = "backward"
    summary = "rank of the word among the best translations of the candidate"

    def fit(self, evidence: Evidence) -> Measure:  # noqa: ARG002
        """Nothing is learnt."""
        return _measure


def _measure(candidates: Candidates) -> Columns:
    return {
        "rank": -np.log1p(candidates.back_ranks),
        "mutual": (candidates.back_ranks == 0).astype(np.float64),
        "margin": candidates.scores - candidates.back_scores,
    }
