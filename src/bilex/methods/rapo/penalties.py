"""CSLS penalties of whole tables (section 3.3), epoch after epoch, without a search of all words each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.retrieval.csls import local_mean
from bilex.search.clusters import cluster, probe
from bilex.search.products import products
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK

WIDTH = 32
"""Near queries kept for each key."""
SAMPLE = 512
"""Keys on which the kept lists are compared with a search."""
TOLERANCE = 1e-2
"""Penalties may on average be too low by this much before all is searched anew."""
LARGE = 50_000
"""Rows of both tables from which on only clusters near to a key are searched first."""
PROBES = 16
"""So many of them."""


class ApproximatePenalties:
    """r of every key: the mean of its k largest cosines with the queries, from lists that are searched now and then.

    While a model is trained the cosines change, and who is near whom hardly does. So the nearest queries of each key
    are searched once and only their cosines are computed again. In large tables the search is not exact: it looks into
    the clusters near to a key. A penalty can thus only be too low; by how much is measured on a sample each time, and
    if that is too much, everything is searched again, at last in full.
    """

    def __init__(self, k: int, *, width: int = WIDTH, tolerance: float = TOLERANCE) -> None:
        self.k, self.width, self.tolerance = k, max(k, width), tolerance
        self.near: Tensor | None = None

    def __call__(self, keys: Tensor, queries: Tensor, progress: Progress | None = None) -> tuple[Tensor, float]:
        """R of every key (m,), and the mean error that is left in it.  keys: (m, d), queries: (n, d), unit rows."""
        ways = [self._from_lists] if self.near is not None else []
        if min(len(keys), len(queries)) >= LARGE:
            ways.append(self._probe)
        for way in ways:
            found = way(keys, queries)
            error = self._error(found, keys, queries)
            if error <= self.tolerance:
                return found, error
        return self._search(keys, queries, progress), 0.0

    def _from_lists(self, keys: Tensor, queries: Tensor) -> Tensor:
        assert self.near is not None
        return local_mean(products(keys, queries, self.near), self.k)

    def _probe(self, keys: Tensor, queries: Tensor) -> Tensor:
        return self._listed(probe(keys, cluster(queries), self.width, probes=PROBES))

    def _search(self, keys: Tensor, queries: Tensor, progress: Progress | None) -> Tensor:
        return self._listed(topk(keys, queries, self.width, warm_start=self.near, progress=progress))

    def _listed(self, found: TopK) -> Tensor:
        self.near = found.indices.to(torch.int32)
        return local_mean(found.values, self.k)

    def _error(self, found: Tensor, keys: Tensor, queries: Tensor) -> float:
        """By how much penalties are off, on average of a sample of them."""
        some = torch.arange(0, len(keys), max(1, len(keys) // SAMPLE), device=keys.device)
        exact = local_mean(topk(keys[some], queries, self.k).values, self.k)
        return float((exact - found[some]).abs().mean())
