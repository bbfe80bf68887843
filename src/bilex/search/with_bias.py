"""The best key of each query by product and bias, from the nearest neighbours by product alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import BUDGET, ROUNDING_ERROR
from bilex.search.lists import TopK
from bilex.search.topk import topk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from bilex.search.blocks import Progress

SHORTLIST_SIZE = 15
"""Nearest neighbours that are worth a search for this; more cost more than they save."""
BATCH = 512
"""Queries that are searched together."""


def best_with_bias(
    queries: Tensor,
    keys: Tensor,
    bias: Tensor,
    nearest: TopK,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> TopK:
    """max_k q · k + b per query: (q, 1).  queries: (q, d), keys: (m, d), bias: (m,), nearest: (q, l).

    `nearest` has the l keys with the largest products of each query. Let p be the last of these products and s the best
    score on the list. A key that is not on the list has q · k <= p, so it can only be better if b > s − p. With the
    bias of CSLS few keys have such a b. Only these are searched; the product of all queries with all keys is not made
    again. Of scores that differ by rounding only, any may be taken.
    """
    best = _best_of_lists(nearest, bias)
    if nearest.values.shape[1] < len(keys):
        for done, work in _search_high_bias(queries, keys, bias, nearest.values[:, -1], best, budget):
            if progress:
                progress(done * len(queries) // work, len(queries))
    if progress:
        progress(len(queries), len(queries))
    return best


def _search_high_bias(
    queries: Tensor, keys: Tensor, bias: Tensor, max_product: Tensor, best: TopK, budget: int
) -> Iterator[tuple[int, int]]:
    """Put better keys that are not on the lists into `best`, in place; yields the products done and to be done.

    max_product: (q,), an upper bound of the product of such keys.
    """
    order = bias.argsort(descending=True, stable=True)
    threshold = best.values[:, 0] - max_product - ROUNDING_ERROR
    counts = len(keys) - torch.searchsorted(bias[order].flip(0), threshold)  # keys with a higher bias, per query
    by_count = counts.argsort(descending=True, stable=True)[: int((counts > 0).sum())]
    candidates, done = keys[order[: int(counts[by_count[:1]].sum())]], 0
    for first in range(0, len(by_count), BATCH):
        batch = by_count[first : first + BATCH]
        width = int(counts[batch[0]])
        lists = topk(queries[batch], candidates[:width], 1, bias=bias[order[:width]], budget=budget)
        better = (lists.values > best.values[batch])[:, 0]
        best.values[batch[better]] = lists.values[better]
        best.indices[batch[better]] = order[lists.indices[better]]
        done += int(counts[batch].sum())
        yield done, int(counts.sum())


def _best_of_lists(nearest: TopK, bias: Tensor) -> TopK:
    """The best key of each list with the bias, (q, 1); of equal scores the one with the lowest index."""
    scores = nearest.values + bias[nearest.indices]
    values = scores.amax(1, keepdim=True)
    indices = nearest.indices.masked_fill(scores < values, torch.iinfo(torch.long).max)
    return TopK(values, indices.amin(1, keepdim=True))
