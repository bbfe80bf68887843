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
    """log of exp(β cos(q, c)) / Σ exp(β cos(q', c)) over all q' of the queries' table: how surely c came from q.

    Smith, Turban, Hamblin and Hammerla (2017). Offline bilingual word vectors, orthogonal transformations and the
    inverted softmax. ICLR. The sum runs over the whole table where they sample it; the constant of a query, which
    changes no rank, is left out.
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
        """Log Σ exp(β cos) of the candidates over the whole other table."""
        return logsumexp(candidates, others, scale=self.beta, budget=budget, progress=progress)
