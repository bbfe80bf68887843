"""The contract of signals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from bilex.rerank.candidates import Candidates

if TYPE_CHECKING:
    from bilex.rerank.evidence import Evidence

Columns = dict[str, NDArray[np.float64]]
"""Columns of a signal by name, (q, c) each."""
Measure = Callable[[Candidates], Columns]


class Signal(ABC):
    """Something that is known of a candidate of a word, as one or several columns of numbers.

    To add a signal, add a file to `signals/` and the class to `SIGNALS`. `fit` prepares it for one mapping and its
    train pairs: it may learn from these pairs, and nothing else. It returns the function that measures candidates.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """What the signal is, for people."""

    def unsuitable(self, evidence: Evidence) -> str | None:  # noqa: ARG002
        """Why the signal means nothing for these languages or tables; None if it applies."""
        return None

    @abstractmethod
    def fit(self, evidence: Evidence) -> Measure:
        """The function that gives the columns of candidates."""
