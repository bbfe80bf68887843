"""CSLS penalties of whole tables, epoch after epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.linalg.pairs import products
from bilex.linalg.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.linalg.topk import Progress

WIDTH = 32
"""Near queries kept for each key."""
SAMPLE = 512
"""Keys on which the kept lists are compared with a search."""
TOLERANCE = 1e-2
"""Penalties may on average be too low by this much before all is searched anew."""


class KeptPenalties:
    """r of every key: the mean of its k largest cosines with the queries, from lists that are searched now and then.

    While a model is trained the cosines change, and who is near whom hardly does. So the nearest queries of each key
    are searched once and only their cosines are computed again. A penalty can thus only be too low; by how much is
    measured on a sample each time, and if that is too much, everything is searched again.
    """

    def __init__(self, k: int, *, width: int = WIDTH, tolerance: float = TOLERANCE) -> None:
        self.k, self.width, self.tolerance = k, max(k, width), tolerance
        self.near: Tensor | None = None

    def __call__(self, keys: Tensor, queries: Tensor, progress: Progress | None = None) -> tuple[Tensor, float]:
        """R of every key (m,), and the mean error that is left in it.  keys: (m, d), queries: (n, d), unit rows."""
        if self.near is None:
            return self._search(keys, queries, progress), 0.0
        found = _mean_of_largest(products(keys, queries, self.near), self.k)
        some = torch.arange(0, len(keys), max(1, len(keys) // SAMPLE), device=keys.device)
        exact = topk(keys[some], queries, self.k).values.mean(1)
        error = float((exact - found[some]).abs().mean())
        return (found, error) if error <= self.tolerance else (self._search(keys, queries, progress), 0.0)

    def _search(self, keys: Tensor, queries: Tensor, progress: Progress | None) -> Tensor:
        values, near = topk(keys, queries, self.width, progress=progress)
        self.near = near.to(torch.int32)
        return _mean_of_largest(values, self.k)


def _mean_of_largest(values: Tensor, k: int) -> Tensor:
    return values.topk(min(k, values.shape[1]), dim=1).values.mean(1)
