"""Rows in clusters, and the nearest neighbours of other rows as far as a few clusters have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from bilex.linalg.topk import BUDGET, topk
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

SIZE = 400
"""Rows of a cluster, on average."""
PROBES = 4
"""Clusters that are looked into for each row."""
SAMPLE, ROUNDS = 30, 4
"""The centroids are found in so many rounds of k-means, from so many rows for each of them."""


class Clusters(NamedTuple):
    """Rows of length 1, those of a cluster in a run, and the directions of the clusters.  Cluster j has sizes[j]."""

    centroids: Tensor
    rows: Tensor
    sizes: Tensor


def cluster(rows: Tensor, *, budget: int = BUDGET) -> Clusters:
    """Every row in the cluster of the nearest centroid. No randomness: the sample is taken at even distances."""
    count = max(1, len(rows) // SIZE)
    sample = rows[:: max(1, len(rows) // (SAMPLE * count))]
    centroids = sample[:: max(1, len(sample) // count)][:count]
    for _ in range(ROUNDS):
        nearest = topk(sample, centroids, 1, budget=budget).indices[:, 0]
        centroids = unit(torch.zeros_like(centroids).index_add_(0, nearest, sample))
    nearest = topk(rows, centroids, 1, budget=budget).indices[:, 0]
    sizes = torch.bincount(nearest, minlength=len(centroids))
    return Clusters(centroids[sizes > 0], rows[nearest.argsort(stable=True)], sizes[sizes > 0])


def near_products(queries: Tensor, clusters: Clusters, n: int, *, budget: int = BUDGET) -> Tensor:
    """The n largest products of each query with the rows of the clusters nearest to it, where there are n: (q, n).

    None is larger than the one at its place of all rows, and most are equal to it. Where the clusters have fewer than
    n rows, -1 takes the place.
    """
    probes = min(PROBES, len(clusters.centroids))
    at_once = max(1, budget // (4 * probes * n * queries.element_size()))
    return torch.cat([_probe(part, clusters, n, probes, budget) for part in torch.split(queries, at_once)])


def _probe(queries: Tensor, clusters: Clusters, n: int, probes: int, budget: int) -> Tensor:
    wanted = topk(queries, clusters.centroids, probes, budget=budget).indices.reshape(-1)
    seekers = torch.bincount(wanted, minlength=len(clusters.sizes)).tolist()
    by_cluster = torch.split(wanted.argsort(stable=True), seekers)
    found = queries.new_full((len(wanted), n), -1.0)
    for places, rows in zip(by_cluster, torch.split(clusters.rows, clusters.sizes.tolist()), strict=True):
        values = topk(queries[places // probes], rows, n, budget=budget).values
        found[places, : values.shape[1]] = values
    return found.view(len(queries), probes * n).topk(n, dim=1).values
