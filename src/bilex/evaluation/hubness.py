"""Hubness: how unevenly the candidates are retrieved."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import torch
from scipy.stats import skew

from bilex.retrieval.sides import Sides

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.retrieval import Index
    from bilex.retrieval.sides import Direction


@dataclass(frozen=True, kw_only=True)
class Hubness:
    """The distribution of N_k(c): how many queries have candidate c among their k best."""

    k: int
    skewness: float
    """Third standardized moment of N_k; 0 is even, large is a space with hubs."""
    largest: int
    """N_k of the greatest hub."""
    never: float
    """Percentage of candidates that no query retrieves."""
    hubs: tuple[tuple[int, int], ...]
    """The ten greatest hubs: (row, N_k)."""

    def to_json(self) -> dict[str, object]:
        """All fields by name."""
        return asdict(self)


def hubness(index: Index, *, k: int = 10, direction: Direction = "forward") -> Hubness:
    """Over all rows of one table as queries and all of the other as candidates.

    Radovanović, Nanopoulos and Ivanović (2010). Hubs in space: popular nearest neighbors in high-dimensional
    data. JMLR.
    """
    queries, candidates = Sides(index.x, index.z).along(direction)
    found = index.topk(queries, k, direction, rows=torch.arange(len(queries), device=queries.device)).indices
    return describe(occurrences(found, len(candidates)), k=k)


def occurrences(found: Tensor, candidates: int) -> Tensor:
    """N_k of each candidate: (m,).  found: (n, k), the rows of the k best candidates of each query."""
    return torch.bincount(found.flatten(), minlength=candidates).cpu()


def describe(counts: Tensor, *, k: int) -> Hubness:
    """The distribution of N_k in a few numbers."""
    top = counts.topk(min(10, len(counts)))
    return Hubness(
        k=k,
        skewness=float(skew(counts.double().numpy())) if counts.min() < counts.max() else 0.0,
        largest=int(counts.max()),
        never=100 * float((counts == 0).double().mean()),
        hubs=tuple(zip(top.indices.tolist(), top.values.tolist(), strict=True)),
    )
