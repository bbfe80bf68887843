"""Rows in clusters, and the nearest neighbours of other rows as far as a few clusters have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from bilex.normalize import unit
from bilex.search.blocks import BUDGET
from bilex.search.lists import TopK, merge
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

SIZE = 400
"""Rows of a cluster, on average."""
PROBES = 2
"""Clusters that are looked into for each row, unless told otherwise."""
SAMPLE, ROUNDS = 30, 4
"""The centroids are found in so many rounds of k-means, from so many rows for each of them."""


class Clusters(NamedTuple):
    """Rows of length 1, those of a cluster in a run, and the directions of the clusters.  Cluster j has sizes[j]."""

    centroids: Tensor
    rows: Tensor
    sizes: Tensor
    places: Tensor
    """Where each row stood before."""


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
    places = nearest.argsort(stable=True)
    return Clusters(centroids[sizes > 0], rows[places], sizes[sizes > 0], places)


def probe(queries: Tensor, clusters: Clusters, n: int, *, probes: int = PROBES, budget: int = BUDGET) -> TopK:
    """The n nearest rows of each query among those of the clusters nearest to it.

    None is nearer than the one at its place among all rows, and most are the same. Where these clusters have fewer than
    n rows, all are searched.
    """
    n = min(n, len(clusters.rows))
    best = TopK(queries.new_full((len(queries), n), -torch.inf), clusters.places.new_zeros((len(queries), n)))
    wanted = topk(queries, clusters.centroids, min(probes, len(clusters.centroids)), budget=budget).indices
    tables = torch.split(clusters.rows, clusters.sizes.tolist())
    for choice in wanted.T:  # the nearest cluster of all queries, then their second: soon few rows are near enough
        seekers = torch.bincount(choice, minlength=len(tables)).tolist()
        start = 0
        for some, rows in zip(torch.split(choice.argsort(stable=True), seekers), tables, strict=True):
            if len(some):
                for part in torch.split(some, max(1, budget // (4 * len(rows) * queries.element_size()))):
                    _look_into(best, part, start, queries[part] @ rows.T)
            start += len(rows)
    short = (best.values[:, -1:] == -torch.inf).nonzero()[:, 0]
    if len(short):
        best.values[short], best.indices[short] = topk(queries[short], clusters.rows, n, budget=budget)
    return TopK(best.values, clusters.places[best.indices])


def _look_into(best: TopK, queries: Tensor, start: int, scores: Tensor) -> None:
    """Put the scores of some queries with the rows from `start` on into their places, in place."""
    found = TopK(best.values[queries], best.indices[queries])
    merge(found, start, scores)
    best.values[queries], best.indices[queries] = found
