"""Groups of words that are all near each other. Needs the extra `graph`."""

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

MOST = 50_000
"""No more cliques than this are kept, the largest: what bounds memory."""
BLOCK = 10_000


class Cliques(NamedTuple):
    """The central word of each clique (c,), in order of rank and each once, and the mean of its words (c, d)."""

    central: Tensor
    vectors: Tensor


def find_cliques(rows: Tensor, *, neighbours: int, degree: float, least: int) -> Cliques:
    """The maximal cliques, of at least so many words, of the graph of similar words (see `links`).

    A clique's vector is the mean of its words, of length 1, and its central word the one nearest to that. Of the
    cliques of one central word the largest is taken, of these the one whose words are nearest to the mean.
    rows: (n, d), of length 1.
    """
    nx = import_networkx("looking for cliques of words")
    graph = nx.Graph(links(rows, neighbours, degree).tolist())
    found = nlargest(MOST, (sorted(clique) for clique in nx.find_cliques(graph) if len(clique) >= least), key=len)
    if not found:
        return Cliques(torch.empty(0, dtype=torch.long, device=rows.device), rows[:0])
    sizes = torch.tensor([len(clique) for clique in found], device=rows.device)
    words = torch.tensor([word for clique in found for word in clique], device=rows.device)
    starts = sizes.cumsum(0) - sizes
    vectors = unit(functional.embedding_bag(words, rows, starts, mode="mean"))
    owner = torch.arange(len(sizes), device=rows.device).repeat_interleave(sizes)
    parts = zip(torch.split(words, BLOCK), torch.split(owner, BLOCK), strict=True)
    cosines = torch.cat([(rows[which] * vectors[of]).sum(1) for which, of in parts])
    nearest = cosines.argsort(descending=True, stable=True)
    central = words[nearest[owner[nearest].argsort(stable=True)][starts]]
    closeness = rows.new_zeros(len(sizes)).index_add_(0, owner, cosines) / sizes
    chosen = _best_of_each(central, sizes + closeness / 2)
    return Cliques(central[chosen], vectors[chosen])


def links(rows: Tensor, neighbours: int, degree: float) -> Tensor:
    """Pairs of rows i < j that are among each other's so many nearest, (e, 2).

    Of these the most similar ones, so many that a row has `degree` links on average. A row has at most `neighbours`,
    which bounds the number of maximal cliques.
    """
    near = topk(rows, rows, neighbours + 1)
    n, width = near.indices.shape
    i = torch.arange(n, device=rows.device).repeat_interleave(width)
    j, values = near.indices.flatten(), near.values.flatten()
    code, values = (torch.minimum(i, j) * n + torch.maximum(i, j))[i != j], values[i != j]
    code, place, count = torch.unique(code, return_inverse=True, return_counts=True)
    cosines = values.new_full((len(code),), -2.0).scatter_reduce_(0, place, values, "amax")
    code, cosines = code[count == 2], cosines[count == 2]
    kept = cosines.topk(min(len(code), round(degree * n / 2))).indices.sort().values
    return torch.stack([code[kept] // n, code[kept] % n], 1)


def import_networkx(purpose: str) -> Any:
    """The package."""
    try:
        return importlib.import_module("networkx")
    except ImportError:
        raise MissingExtraError("networkx", "graph", purpose) from None


def _best_of_each(central: Tensor, scores: Tensor) -> Tensor:
    """Which clique of each central word has the highest score, in order of the words."""
    best = scores.argsort(descending=True, stable=True)
    best = best[central[best].argsort(stable=True)]
    first = torch.ones_like(best, dtype=torch.bool)
    first[1:] = central[best][1:] != central[best][:-1]
    return best[first]
