"""Cosine, and the local mean of the candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Cosine(Signal):
    """cos(q, c), and r(c) up to a constant of the word: 2 cos(q, c) − s(c) = r(q) + r(c)."""

    name = "cosine"
    summary = "cosine, and how near the candidate is to all words"

    def fit(self, evidence: Evidence) -> Measure:  # noqa: ARG002
        """Nothing is learnt."""
        return _measure


def _measure(candidates: Candidates) -> Columns:
    return {"cosine": candidates.cosines, "local_mean": 2 * candidates.cosines - candidates.scores}
