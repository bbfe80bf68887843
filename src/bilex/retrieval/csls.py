"""Cross-domain similarity local scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bilex.errors import SettingsError
from bilex.retrieval.base import Penalties, Retrieval
from bilex.search.blocks import ROUNDING_ERROR
from bilex.search.clusters import cluster, probe
from bilex.search.problem import SPARE_NEIGHBOURS
from bilex.search.products import products
from bilex.search.topk import topk, topk_both

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK


def local_mean(cosines: Tensor, k: int) -> Tensor:
    """r(q) = mean of the k largest cosines of each row, of all m if m < k: (q,).  cosines: (q, m).

    This is the one definition of r. The sum is made in float64 and rounded once, so it depends neither on the shape of
    the block nor on the order of the cosines.
    """
    largest = cosines.topk(min(k, cosines.shape[1]), dim=1).values
    return largest.mean(1, dtype=torch.float64).to(cosines.dtype)


def nearest_mean(rows: Tensor, others: Tensor, k: int) -> Tensor:
    """R of each row: the mean of its k largest cosines with the other table: (n,).  (n, d), (m, d): unit rows."""
    return local_mean(topk(rows, others, k).values, k)


def csls_bias(r: Tensor) -> Tensor:
    """Bias b = −r / 2: q · c + b(c), half of 2 q · c − r(c), ranks candidates as CSLS does.  r: (m,)."""
    return -r / 2


@dataclass(frozen=True, kw_only=True)
class CSLS(Retrieval):
    """s(q, c) = 2 cos(q, c) − r(q) − r(c), r the mean of the k largest cosines into the whole other table.

    A hub, a candidate that is near to many words, has a large r and is ranked lower. Conneau, Lample, Ranzato,
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
        """r(c) of the candidates (m, e): (m,), the same to the last bit in any selection of them."""
        neighbours = topk(candidates, others, self.k + SPARE_NEIGHBOURS, budget=budget, progress=progress)
        return self._penalty(candidates, others, neighbours)

    def penalties(
        self, x: Tensor, z: Tensor, *, budget: int, progress: Progress | None = None
    ) -> tuple[Penalties, Penalties]:
        """The r of all rows of both tables from one search."""
        of_x, of_z = topk_both(x, z, self.k + SPARE_NEIGHBOURS, budget=budget, progress=progress)
        return Penalties(self._penalty(x, z, of_x), of_x), Penalties(self._penalty(z, x, of_z), of_z)

    def bounds(self, candidates: Tensor, others: Tensor, *, budget: int) -> Tensor:
        """r(c) over the clusters nearest to c in the other table; it is at most r(c) over the whole table."""
        k = min(self.k, len(others))
        cosines = probe(candidates, cluster(others, budget=budget), k, budget=budget).values
        return local_mean(cosines, k) - ROUNDING_ERROR

    def _penalty(self, candidates: Tensor, others: Tensor, neighbours: TopK) -> Tensor:
        return local_mean(products(candidates, others, neighbours.indices.to(torch.int32)), self.k)
