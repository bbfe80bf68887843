"""The inverted softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bilex.errors import SettingsError
from bilex.retrieval.base import Retrieval
from bilex.search.blocks import logsumexp

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.blocks import Progress


@dataclass(frozen=True, kw_only=True)
class InvertedSoftmax(Retrieval):
    """s(q, c) = log [exp(β cos(q, c)) / Σ_q' exp(β cos(q', c))], the sum over the whole table of the queries.

    Smith, Turban, Hamblin and Hammerla (2017). Offline bilingual word vectors, orthogonal transformations and the
    inverted softmax. ICLR. They sample the sum; here it is complete. A constant of the query, which changes no rank, is
    left out.
    """

    beta: float = 30.0

    name = "isf"

    def __post_init__(self) -> None:
        if not 0 < self.beta < float("inf"):
            raise SettingsError(f"isf: beta is {self.beta}; it must be a number greater than 0")

    @property
    def factor(self) -> float:
        """The inverse temperature."""
        return self.beta

    def penalty(self, candidates: Tensor, others: Tensor, *, budget: int, progress: Progress | None = None) -> Tensor:
        """Log Σ_q' exp(β cos(q', c)) over the whole other table: (m,)."""
        return logsumexp(candidates, others, scale=self.beta, budget=budget, progress=progress)
