"""The best key of each query by product and bias, where the nearest by product alone are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import BUDGET, ROUNDING
from bilex.search.lists import TopK
from bilex.search.topk import topk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from bilex.search.blocks import Progress

LISTED = 15
"""So many of the nearest keys are worth knowing; more cost more than they save."""
AT_ONCE = 512
"""Queries that are searched together."""


def best_of_near(
    queries: Tensor,
    keys: Tensor,
    bias: Tensor,
    near: TopK,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> TopK:
    """The largest q · k + b per query, (q, 1).  queries: (q, d), keys: (m, d), bias: (m,), near: (q, l).

    `near` has the l keys with the largest products of each query. Any other key has at most the last of these products,
    p, and with the best score of the list, s, it can only be better if b > s − p. Where b is minus half of a CSLS
    penalty few keys have one so high: they are searched, and the products of all with all are not needed again. Of
    scores that are equal or differ by rounding only, any may be taken.
    """
    best = _best_listed(near, bias)
    if near.values.shape[1] < len(keys):
        for done, work in _contenders(queries, keys, bias, near.values[:, -1], best, budget):
            if progress:
                progress(done * len(queries) // work, len(queries))
    if progress:
        progress(len(queries), len(queries))
    return best


def _contenders(
    queries: Tensor, keys: Tensor, bias: Tensor, most: Tensor, best: TopK, budget: int
) -> Iterator[tuple[int, int]]:
    """Put better keys that are not on the lists into their places, in place, and tell how far it is.

    most: (q,), the largest product that such a key can have.
    """
    order = bias.argsort(descending=True, stable=True)
    reach = len(keys) - torch.searchsorted(bias[order].flip(0), best.values[:, 0] - most - ROUNDING)
    widest = reach.argsort(descending=True, stable=True)[: int((reach > 0).sum())]
    high, done = keys[order[: int(reach[widest[:1]].sum())]], 0
    for first in range(0, len(widest), AT_ONCE):
        some = widest[first : first + AT_ONCE]
        width = int(reach[some[0]])
        found = topk(queries[some], high[:width], 1, bias=bias[order[:width]], budget=budget)
        better = (found.values > best.values[some])[:, 0]
        best.values[some[better]] = found.values[better]
        best.indices[some[better]] = order[found.indices[better]]
        done += int(reach[some].sum())
        yield done, int(reach.sum())


def _best_listed(near: TopK, bias: Tensor) -> TopK:
    """The best key of each list, of equals the first in the table."""
    scores = near.values + bias[near.indices]
    values = scores.amax(1, keepdim=True)
    indices = near.indices.masked_fill(scores < values, torch.iinfo(torch.long).max)
    return TopK(values, indices.amin(1, keepdim=True))
