"""CSLS penalties of whole tables (section 3.3) in every epoch, without a full search each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.retrieval.csls import local_mean, nearest_mean
from bilex.search.approximate import near_keys
from bilex.search.clusters import cluster, probe
from bilex.search.products import products
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK

LIST_SIZE = 32
"""Nearest queries that are stored for each key."""
SAMPLE_SIZE = 256
"""Keys on which the error of the penalties is measured."""
TOLERANCE = 1e-2
"""Largest mean error; above it, the lists are searched again."""
CLUSTER_SEARCH_ROWS = 50_000
"""If both tables have at least this many rows, only the clusters nearest to a key are searched first."""
CLUSTERS_PER_KEY = 16
"""Clusters that are searched for each key."""


class ApproximatePenalties:
    """r(key), the mean of its k largest cosines with the queries, from stored lists of near queries.

    During training the cosines change, but the nearest neighbours hardly do. So the nearest queries of each key are
    searched once, and later only their cosines are computed again. The search itself is approximate: in large tables it
    looks only into the clusters nearest to a key, and it rounds the scores. A penalty can therefore only be too low.
    The error is measured on a sample each time. If it is above the tolerance, the lists are searched again: by
    clusters, by rounded scores, and at last exactly.
    """

    def __init__(self, k: int, *, list_size: int = LIST_SIZE, tolerance: float = TOLERANCE) -> None:
        self.k, self.list_size, self.tolerance = k, max(k, list_size), tolerance
        self.near: Tensor | None = None

    def __call__(self, keys: Tensor, queries: Tensor, progress: Progress | None = None) -> tuple[Tensor, float]:
        """The r of every key (m,), and its mean error.  keys: (m, d), queries: (n, d), unit rows."""
        approximations = [self._from_lists] if self.near is not None else []
        if min(len(keys), len(queries)) >= CLUSTER_SEARCH_ROWS:
            approximations.append(self._search_clusters)
        approximations.append(self._search_rounded)
        for approximate in approximations:
            penalty = approximate(keys, queries)
            error = self._mean_error(penalty, keys, queries)
            if error <= self.tolerance:
                return penalty, error
        return self._search(keys, queries, progress), 0.0

    def _from_lists(self, keys: Tensor, queries: Tensor) -> Tensor:
        assert self.near is not None
        return local_mean(products(keys, queries, self.near), self.k)

    def _search_clusters(self, keys: Tensor, queries: Tensor) -> Tensor:
        return self._store_lists(probe(keys, cluster(queries), self.list_size, probes=CLUSTERS_PER_KEY))

    def _search_rounded(self, keys: Tensor, queries: Tensor) -> Tensor:
        self.near = near_keys(keys, queries, self.list_size).to(torch.int32)
        return self._from_lists(keys, queries)

    def _search(self, keys: Tensor, queries: Tensor, progress: Progress | None) -> Tensor:
        return self._store_lists(topk(keys, queries, self.list_size, warm_start=self.near, progress=progress))

    def _store_lists(self, nearest: TopK) -> Tensor:
        self.near = nearest.indices.to(torch.int32)
        return local_mean(nearest.values, self.k)

    def _mean_error(self, penalty: Tensor, keys: Tensor, queries: Tensor) -> float:
        """Mean absolute error of the penalties, on a sample of the keys."""
        sample = torch.arange(0, len(keys), max(1, len(keys) // SAMPLE_SIZE), device=keys.device)
        exact = nearest_mean(keys[sample], queries, self.k)
        return float((exact - penalty[sample]).abs().mean())
