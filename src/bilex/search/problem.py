"""What a search is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import KEY_BLOCK
from bilex.search.products import products

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.low_precision import LowPrecision

SPARE_NEIGHBOURS = 5
"""Neighbours that are searched beyond the last one wanted, so that no rounding of a block decides who is the last."""


@dataclass(frozen=True)
class Problem:
    """The n best keys of each query by q · k + b, under a memory budget.

    queries: (q, d), keys: (m, d), bias: (m,), warm_start: (q, w), indices of keys that are expected to be near.
    """

    queries: Tensor
    keys: Tensor
    n: int
    bias: Tensor | None
    warm_start: Tensor | None
    budget: int

    def part(self, queries: Tensor | slice) -> Problem:
        """The same for some of the queries."""
        warm_start = None if self.warm_start is None else self.warm_start[queries]
        return replace(self, queries=self.queries[queries], warm_start=warm_start)

    def lower_bound(self) -> Tensor | None:
        """Lower bound of the n-th best score of each query, (q,): the n-th best of the warm start.

        None if the warm start has fewer than n keys.
        """
        if self.warm_start is None or not self.warm_start.shape[1] >= self.n > 0:
            return None
        scores = products(self.queries, self.keys, self.warm_start.to(torch.int32))
        if self.bias is not None:
            scores += self.bias.to(scores)[self.warm_start.long()]
        return scores.topk(self.n, dim=1).values[:, -1]


def block_width(size: int, precision: LowPrecision | None = None) -> int:
    """Keys of a block of scores, for lists of this size."""
    return max(KEY_BLOCK if precision is None else precision.key_block, 16 * size)
