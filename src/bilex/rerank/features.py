"""The columns of several signals together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence
    from bilex.rerank.signals import Columns, Measure, Signal


@dataclass(frozen=True, eq=False)
class Features:
    """Fitted signals by name."""

    measures: dict[str, Measure]

    @classmethod
    def fit(cls, signals: Sequence[Signal], evidence: Evidence) -> Features:
        """Fit each signal to the evidence."""
        return cls({signal.name: signal.fit(evidence) for signal in signals})

    def columns(self, candidates: Candidates) -> Columns:
        """All columns by name, `signal.column`: (q, c) each."""
        return {
            f"{name}.{column}": values
            for name, measure in self.measures.items()
            for column, values in measure(candidates).items()
        }

    def stacked(self, candidates: Candidates) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        """The names of all columns (f,), and their values (q, c, f)."""
        columns = self.columns(candidates)
        return tuple(columns), np.stack(list(columns.values()), axis=2)
