"""Cross-domain similarity local scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bilex.errors import SettingsError
from bilex.linalg.topk import topk
from bilex.retrieval.base import Retrieval

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.linalg.topk import Progress


@dataclass(frozen=True, kw_only=True)
class CSLS(Retrieval):
    """2 cos(q, c) − r(q) − r(c), where r is the mean of the k largest cosines into the whole other table.

    A candidate that is near to everything (a hub) has a large r and is held back by it. Conneau, Lample, Ranzato,
    Denoyer and Jégou (2018). Word translation without parallel data. ICLR.
    """

    k: int = 10

    name = "csls"
    symmetric = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise SettingsError(f"csls: k is {self.k}; it must be at least 1")

    @property
    def factor(self) -> float:
        """The weight of the cosine."""
        return 2.0

    def penalty(self, candidates: Tensor, others: Tensor, *, budget: int, progress: Progress | None = None) -> Tensor:
        """R of the candidates."""
        return topk(candidates, others, self.k, budget=budget, progress=progress).values.mean(1)
