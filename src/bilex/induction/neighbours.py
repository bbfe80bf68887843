"""The nearest neighbours of all words of two mapped tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bilex.retrieval.csls import local_mean
from bilex.search.topk import topk_both

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.lists import TopK


class NearestNeighbours(NamedTuple):
    """The nearest rows in the other table of every row of two tables, best first: (n, k) and (m, k)."""

    x: TopK
    z: TopK

    @classmethod
    def search(
        cls,
        x: Tensor,
        z: Tensor,
        n: int,
        *,
        warm_start: NearestNeighbours | None = None,
        matrix: Tensor | None = None,
    ) -> NearestNeighbours:
        """The n nearest rows of each row.  x: (q, d), z: (m, d); matrix: x · zᵀ, if it is known.

        `warm_start`, the neighbours of the same rows under another map, makes the search faster. It is ignored if it is
        of tables of another size.
        """
        indices = None
        if warm_start is not None and (len(warm_start.x.indices), len(warm_start.z.indices)) == (len(x), len(z)):
            indices = warm_start.x.indices, warm_start.z.indices
        return cls(*topk_both(x, z, n, warm_start=indices, matrix=matrix))

    def are_of(self, x: Tensor, z: Tensor, k: int) -> bool:
        """Whether there are at least k of every row of tables of this size."""
        sizes = [(len(table), min(k, len(others))) for table, others in ((x, z), (z, x))]
        found = [near.values.shape for near in self]
        return all(rows == n and listed >= least for (rows, listed), (n, least) in zip(found, sizes, strict=True))

    def penalties(self, k: int) -> tuple[Tensor, Tensor]:
        """The r of CSLS of both tables, the mean of the k largest cosines: (q,) and (m,)."""
        r_x, r_z = (local_mean(neighbours.values, k) for neighbours in self)
        return r_x, r_z
