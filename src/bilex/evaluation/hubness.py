"""Hubness: how often the same few candidates are retrieved."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import torch

from bilex.retrieval.sides import Sides

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.retrieval import Index
    from bilex.retrieval.sides import Direction


@dataclass(frozen=True, kw_only=True)
class Hubness:
    """The distribution of N_k(c): how many queries have candidate c among their k best."""

    k: int
    skewness: float
    """Third standardized moment of N_k; about 0 without hubs, large with hubs."""
    largest: int
    """N_k of the largest hub."""
    never: float
    """Percentage of candidates that no query retrieves."""
    hubs: tuple[tuple[int, int], ...]
    """The ten largest hubs: (row, N_k)."""

    def to_json(self) -> dict[str, object]:
        """All fields by name."""
        return asdict(self)


def hubness(index: Index, *, k: int = 10, direction: Direction = "forward") -> Hubness:
    """The hubness of all rows of one table as candidates, with all rows of the other as queries.

    Radovanović, Nanopoulos and Ivanović (2010). Hubs in space: popular nearest neighbors in high-dimensional
    data. JMLR.
    """
    queries, candidates = Sides(index.x, index.z).along(direction)
    nearest = index.topk(queries, k, direction, rows=torch.arange(len(queries), device=queries.device)).indices
    return describe(occurrences(nearest, len(candidates)), k=k)


def occurrences(nearest: Tensor, candidates: int) -> Tensor:
    """N_k of each candidate: (m,).  nearest: (n, k), rows of the k best candidates of each query."""
    return torch.bincount(nearest.flatten(), minlength=candidates).cpu()


def describe(counts: Tensor, *, k: int) -> Hubness:
    """Summary of the distribution of N_k: (m,)."""
    top = counts.topk(min(10, len(counts)))
    return Hubness(
        k=k,
        skewness=skewness(counts.double().numpy()) if counts.min() < counts.max() else 0.0,
        largest=int(counts.max()),
        never=100 * float((counts == 0).double().mean()),
        hubs=tuple(zip(top.indices.tolist(), top.values.tolist(), strict=True)),
    )


def skewness(values: NDArray[np.float64]) -> float:
    """Third standardized moment m₃ / m₂^1.5, with mᵢ the mean of (v − v̄)ⁱ.  values v: (m,), not all equal."""
    centered = values - values.mean()
    squares = centered**2
    return float((squares * centered).mean() / squares.mean() ** 1.5)
