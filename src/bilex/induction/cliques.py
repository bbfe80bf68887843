"""Maximal cliques of similar words. Needs the extra `graph`."""

from __future__ import annotations

import importlib
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn import functional

from bilex.errors import MissingExtraError
from bilex.normalize import unit
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

MAX_CLIQUES = 50_000
"""At most so many cliques are kept, the largest; this bounds memory."""
BATCH = 10_000
"""Words whose cosines are computed together."""


class Cliques(NamedTuple):
    """The central word of each clique, (c,), sorted and each once, and the mean of its words, (c, d)."""

    central: Tensor
    vectors: Tensor


def find_cliques(rows: Tensor, *, neighbours: int, degree: float, min_size: int) -> Cliques:
    """The maximal cliques of at least `min_size` words in the neighbour graph (see `edges`).  rows: (n, d), unit rows.

    The vector of a clique is the unit mean of its words, and its central word is the word nearest to that. Of the
    cliques with the same central word the largest is taken; of equal ones that whose words are nearest to the mean.
    """
    nx = import_networkx("looking for cliques of words")
    graph = nx.Graph(edges(rows, neighbours, degree).tolist())
    cliques = nlargest(
        MAX_CLIQUES, (sorted(clique) for clique in nx.find_cliques(graph) if len(clique) >= min_size), key=len
    )
    if not cliques:
        return Cliques(torch.empty(0, dtype=torch.long, device=rows.device), rows[:0])
    sizes = torch.tensor([len(clique) for clique in cliques], device=rows.device)
    words = torch.tensor([word for clique in cliques for word in clique], device=rows.device)
    starts = sizes.cumsum(0) - sizes
    vectors = unit(functional.embedding_bag(words, rows, starts, mode="mean"))
    owner = torch.arange(len(sizes), device=rows.device).repeat_interleave(sizes)
    parts = zip(torch.split(words, BATCH), torch.split(owner, BATCH), strict=True)
    cosines = torch.cat([(rows[which] * vectors[of]).sum(1) for which, of in parts])
    nearest = cosines.argsort(descending=True, stable=True)
    central = words[nearest[owner[nearest].argsort(stable=True)][starts]]
    closeness = rows.new_zeros(len(sizes)).index_add_(0, owner, cosines) / sizes
    chosen = _best_by_central_word(central, sizes + closeness / 2)
    return Cliques(central[chosen], vectors[chosen])


def edges(rows: Tensor, neighbours: int, degree: float) -> Tensor:
    """Edges i < j between rows that are among each other's nearest `neighbours`: (e, 2).  rows: (n, d), unit rows.

    Only the most similar ones, so many that a row has `degree` edges on average. A row has at most `neighbours`, which
    bounds the number of maximal cliques.
    """
    nearest = topk(rows, rows, neighbours + 1)
    n, width = nearest.indices.shape
    i = torch.arange(n, device=rows.device).repeat_interleave(width)
    j, values = nearest.indices.flatten(), nearest.values.flatten()
    code, values = (torch.minimum(i, j) * n + torch.maximum(i, j))[i != j], values[i != j]
    code, place, count = torch.unique(code, return_inverse=True, return_counts=True)
    cosines = values.new_full((len(code),), -2.0).scatter_reduce_(0, place, values, "amax")
    code, cosines = code[count == 2], cosines[count == 2]
    chosen = cosines.topk(min(len(code), round(degree * n / 2))).indices.sort().values
    return torch.stack([code[chosen] // n, code[chosen] % n], 1)


def import_networkx(purpose: str) -> Any:
    """The package networkx."""
    try:
        return importlib.import_module("networkx")
    except ImportError:
        raise MissingExtraError("networkx", "graph", purpose) from None


def _best_by_central_word(central: Tensor, scores: Tensor) -> Tensor:
    """The clique with the highest score (c,) for each central word (c,), sorted by word."""
    best = scores.argsort(descending=True, stable=True)
    best = best[central[best].argsort(stable=True)]
    first = torch.ones_like(best, dtype=torch.bool)
    first[1:] = central[best][1:] != central[best][:-1]
    return best[first]
