"""Equal spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.letters import plain
from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Identity(Signal):
    """Whether both words are the same, apart from case and accents. It means something in any two scripts."""

    name = "identity"
    summary = "whether both words are spelt alike"

    def fit(self, evidence: Evidence) -> Measure:
        """Nothing is learnt."""
        source, target = evidence.words

        def measure(candidates: Candidates) -> Columns:
            rows, places = candidates.distinct
            words = np.array([plain(source[i]) for i in candidates.sources])
            translations = np.array([plain(target[j]) for j in rows])
            return {"alike": (words[:, None] == translations[places]).astype(np.float64)}

        return measure
