"""Cross-domain similarity local scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bilex.errors import SettingsError
from bilex.retrieval.base import Retrieval, Scaling
from bilex.search.blocks import ROUNDING
from bilex.search.clusters import cluster, probe
from bilex.search.products import products
from bilex.search.topk import SPARE, topk, topk_both

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK


def local_mean(cosines: Tensor, k: int) -> Tensor:
    """r(q), the mean of the k largest cosines of each row.  cosines: (q, m), of all m if m < k; result: (q,).

    This is the one definition of r. The sum is made in float64 and rounded once: it does not depend on the shape of
    what is summed, nor on the order of the cosines.
    """
    largest = cosines.topk(min(k, cosines.shape[1]), dim=1).values
    return largest.mean(1, dtype=torch.float64).to(cosines.dtype)


def csls_bias(r: Tensor) -> Tensor:
    """B with which q · c + b ranks candidates c as CSLS does: half of 2 q · c − r(c).  r: (m,)."""
    return -r / 2


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
        """R of the candidates, the same to the last bit whichever candidates are asked for together."""
        near = topk(candidates, others, self.k + SPARE, budget=budget, progress=progress)
        return self._penalty(candidates, others, near)

    def penalties(
        self, x: Tensor, z: Tensor, *, budget: int, progress: Progress | None = None
    ) -> tuple[Scaling, Scaling]:
        """R of all rows of both tables from one search."""
        near_z, near_x = topk_both(x, z, self.k + SPARE, budget=budget, progress=progress)
        return Scaling(self._penalty(x, z, near_z), near_z), Scaling(self._penalty(z, x, near_x), near_x)

    def bounds(self, candidates: Tensor, others: Tensor, *, budget: int) -> Tensor:
        """R over a part of the other table, the clusters near to a candidate, which is at most the r over all of it."""
        k = min(self.k, len(others))
        cosines = probe(candidates, cluster(others, budget=budget), k, budget=budget).values
        return local_mean(cosines, k) - ROUNDING

    def _penalty(self, candidates: Tensor, others: Tensor, near: TopK) -> Tensor:
        return local_mean(products(candidates, others, near.indices.to(torch.int32)), self.k)
