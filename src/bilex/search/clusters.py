"""Clusters of rows by k-means, and approximate neighbours from the clusters nearest to a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from bilex.normalize import unit
from bilex.search.blocks import BUDGET
from bilex.search.lists import TopK, merge
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

CLUSTER_SIZE = 400
"""Rows of a cluster, on average."""
PROBES = 2
"""Default number of clusters that are searched for each query."""
SAMPLES_PER_CENTROID, KMEANS_ROUNDS = 30, 4


class Clusters(NamedTuple):
    """Unit rows (m, d) in the order of their clusters; centroids (c, d), and sizes (c,) in rows."""

    centroids: Tensor
    rows: Tensor
    sizes: Tensor
    indices: Tensor
    """Index of each row in the table before: (m,)."""


def cluster(rows: Tensor, *, budget: int = BUDGET) -> Clusters:
    """Assign every row (m, d) to the nearest centroid. No randomness: the sample is taken at even distances."""
    count = max(1, len(rows) // CLUSTER_SIZE)
    sample = rows[:: max(1, len(rows) // (SAMPLES_PER_CENTROID * count))]
    centroids = sample[:: max(1, len(sample) // count)][:count]
    for _ in range(KMEANS_ROUNDS):
        nearest = topk(sample, centroids, 1, budget=budget).indices[:, 0]
        centroids = unit(torch.zeros_like(centroids).index_add_(0, nearest, sample))
    nearest = topk(rows, centroids, 1, budget=budget).indices[:, 0]
    sizes = torch.bincount(nearest, minlength=len(centroids))
    indices = nearest.argsort(stable=True)
    return Clusters(centroids[sizes > 0], rows[indices], sizes[sizes > 0], indices)


def probe(queries: Tensor, clusters: Clusters, n: int, *, probes: int = PROBES, budget: int = BUDGET) -> TopK:
    """The n nearest rows of each query (q, d) among those of the nearest clusters: (q, n).

    The j-th value is at most that of an exact search, and most are equal. If these clusters have fewer than n rows,
    all rows are searched.
    """
    n = min(n, len(clusters.rows))
    best = TopK(queries.new_full((len(queries), n), -torch.inf), clusters.indices.new_zeros((len(queries), n)))
    nearest = topk(queries, clusters.centroids, min(probes, len(clusters.centroids)), budget=budget).indices
    tables = torch.split(clusters.rows, clusters.sizes.tolist())
    for choice in nearest.T:  # the nearest cluster of all queries first, which leaves few candidates to the second
        query_counts = torch.bincount(choice, minlength=len(tables)).tolist()
        start = 0
        for members, rows in zip(torch.split(choice.argsort(stable=True), query_counts), tables, strict=True):
            if len(members):
                for part in torch.split(members, max(1, budget // (4 * len(rows) * queries.element_size()))):
                    _merge_some(best, part, start, queries[part] @ rows.T)
            start += len(rows)
    short = (best.values[:, -1:] == -torch.inf).nonzero()[:, 0]
    if len(short):
        best.values[short], best.indices[short] = topk(queries[short], clusters.rows, n, budget=budget)
    return TopK(best.values, clusters.indices[best.indices])


def _merge_some(best: TopK, queries: Tensor, start: int, scores: Tensor) -> None:
    """Update the lists of some queries (p,), in place, with their scores (p, w) of the rows from `start` on."""
    lists = TopK(best.values[queries], best.indices[queries])
    merge(lists, start, scores)
    best.values[queries], best.indices[queries] = lists
