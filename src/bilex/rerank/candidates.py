"""The candidates of source words: the best targets by CSLS, with the figures of the search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from bilex.search.products import products

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.retrieval import Index
    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK

BACKWARD = 10
"""Source words that are searched for each candidate, to find the rank of the word among them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidates:
    """The c best targets of q source words, best first by CSLS."""

    sources: NDArray[np.int64]
    """Rows of the source words: (q,)."""
    targets: NDArray[np.int64]
    """Rows of the candidates: (q, c)."""
    scores: NDArray[np.float64]
    """CSLS: (q, c)."""
    cosines: NDArray[np.float64]
    """(q, c)."""
    back_ranks: NDArray[np.int64]
    """Rank of the source word among the best source words of the candidate, from 0; `BACKWARD` if below: (q, c)."""
    back_scores: NDArray[np.float64]
    """Score of the best source word of the candidate: (q, c)."""

    @property
    def shape(self) -> tuple[int, int]:
        """(q, c)."""
        q, c = self.targets.shape
        return q, c

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The targets, each once and sorted, and the place of each candidate among them (q, c)."""
        rows, places = np.unique(self.targets, return_inverse=True)
        return rows, places.reshape(self.shape)

    def head(self, n: int) -> Candidates:
        """The n best of each word."""
        names = ("targets", "scores", "cosines", "back_ranks", "back_scores")
        return replace(self, **{name: getattr(self, name)[:, :n] for name in names})

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each candidate, line after line, the number of its word and its place in `distinct`: (q c,) each."""
        q, c = self.shape
        return np.repeat(np.arange(q), c), self.distinct[1].reshape(-1)


def find_candidates(
    index: Index,
    rows: NDArray[np.int64],
    n: int,
    *,
    first: int | None = None,
    backward: TopK | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The n best candidates of source rows (q,); with `first`, only the first words of both tables are searched.

    backward: the result of `search_backward` for all targets; by default those of the candidates are searched.
    """
    sources = torch.from_numpy(rows).to(index.x.device)
    best = index.topk(index.x[sources], n, first=first, rows=sources, progress=progress)
    if backward is None:
        targets, places = torch.unique(best.indices, return_inverse=True)
        back = search_backward(index, targets, first=first, progress=progress)
    else:
        back, places = backward, best.indices
    is_word = back.indices[places] == sources[:, None, None]
    ranks = torch.where(is_word.any(2), is_word.to(torch.int8).argmax(2), BACKWARD)
    cosines = products(index.x[sources], index.z, best.indices.to(torch.int32))
    return Candidates(
        sources=rows,
        targets=best.indices.cpu().numpy(),
        scores=best.values.double().cpu().numpy(),
        cosines=cosines.double().cpu().numpy(),
        back_ranks=ranks.cpu().numpy(),
        back_scores=back.values[:, 0].double()[places].cpu().numpy(),
    )


def search_backward(
    index: Index, targets: Tensor, *, first: int | None = None, progress: Progress | None = None
) -> TopK:
    """The best source words of target rows (t,): (t, `BACKWARD`)."""
    return index.topk(index.z[targets], BACKWARD, "backward", first=first, rows=targets, progress=progress)
