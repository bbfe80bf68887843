"""Frequency ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.io.inspection import find_order_problem
from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Frequency(Signal):
    """With l = log(1 + row): −l(c), l(c)², |l(q) − l(c)|, l(q) l(c). A translation is about as frequent as its word."""

    name = "frequency"
    summary = "frequency of the candidate, and its distance to that of the word"

    def unsuitable(self, evidence: Evidence) -> str | None:
        """Tables that are not in order of frequency."""
        for side, words in zip(("source", "target"), evidence.words, strict=True):
            if (problem := find_order_problem(words)) is not None:
                return f"the {side} table {problem}"
        return None

    def fit(self, evidence: Evidence) -> Measure:  # noqa: ARG002
        """Nothing is learnt."""
        return _measure


def _measure(candidates: Candidates) -> Columns:
    source, target = np.log1p(candidates.sources)[:, None], np.log1p(candidates.targets)
    return {
        "common": -target,
        "square": target**2,
        "difference": np.abs(source - target),
        "product": source * target,
    }
