"""The score of the vectors, and its distance from those of the other candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Csls(Signal):
    """s(c) by CSLS, s(c) − s(best), for the best candidate its lead over the second one, and log(1 + rank)."""

    name = "csls"
    summary = "score by CSLS, its distance to the best one, and its rank"

    def fit(self, evidence: Evidence) -> Measure:  # noqa: ARG002
        """Nothing is learnt."""
        return _measure


def _measure(candidates: Candidates) -> Columns:
    scores = candidates.scores
    lead = np.zeros(scores.shape)
    if scores.shape[1] > 1:
        lead[:, 0] = scores[:, 0] - scores[:, 1]
    ranks = np.broadcast_to(np.log1p(np.arange(scores.shape[1])), scores.shape)
    return {"score": scores, "margin": scores - scores[:, :1], "lead": lead, "rank": -ranks}
