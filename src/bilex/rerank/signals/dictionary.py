"""Whether the candidate is a known translation of other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Dictionary(Signal):
    """Of how many other words the candidate is a translation in the dictionary: whether any, and log(1 + count)."""

    name = "dictionary"
    summary = "whether the dictionary has the candidate as a translation of other words"

    def fit(self, evidence: Evidence) -> Measure:
        """Count the pairs of each target."""
        pairs = evidence.pairs
        counts = np.bincount(pairs[:, 1], minlength=len(evidence.words.target))
        width = len(evidence.words.target)
        known = np.unique(pairs[:, 0] * width + pairs[:, 1])

        def measure(candidates: Candidates) -> Columns:
            own = np.isin(candidates.sources[:, None] * width + candidates.targets, known)
            others = counts[candidates.targets] - own
            return {"listed": (others > 0).astype(np.float64), "count": np.log1p(others)}

        return measure
