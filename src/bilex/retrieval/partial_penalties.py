"""Exact answers from penalties of which most are only bounded.

A score is cos(q, c) − penalty(c) / a. With a bound in place of the penalty, which is never above it, a score can only
be too high. So if the n best candidates by such scores all have their exact penalties, they are the n best: nobody
else can do better than it seems. Only candidates that seem to be among the best are therefore computed in full, which
takes a product with the whole other table for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import BUDGET, KEY_BLOCK, ROUNDING, score_blocks
from bilex.search.products import products
from bilex.search.ranks import ranks
from bilex.search.topk import topk

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK

MOST = 0.5
"""Where more than this share of the penalties is wanted, all are computed: many more would follow."""
WIDEST = 1000
"""Candidates on a query's list at most, unless more are asked for."""


@dataclass(frozen=True, eq=False)
class Partial:
    """Penalties of a whole table, (m,), exact in some places and bounds from below in the others."""

    values: Tensor
    exact: Tensor

    @classmethod
    def of(cls, bounds: Tensor) -> Partial:
        """Nothing but bounds."""
        return cls(bounds, torch.zeros_like(bounds, dtype=torch.bool))

    def missing(self, places: Tensor) -> Tensor:
        """The places of which the penalty is not exact, in order, each once."""
        wanted = torch.zeros_like(self.exact)
        wanted[places.reshape(-1)] = True
        return (wanted & ~self.exact).nonzero()[:, 0]

    def filled(self, places: Tensor, penalties: Tensor) -> Partial:
        """With exact penalties at some places."""
        return Partial(self.values.index_copy(0, places, penalties), self.exact.index_fill(0, places, True))


@dataclass(frozen=True, eq=False)
class Search:
    """Queries among the first candidates of a table, whose exact penalties are computed as they are needed."""

    queries: Tensor
    candidates: Tensor
    factor: float
    penalties: Callable[[Tensor], Tensor]
    """Exact penalties of the candidates at some places of their table."""
    budget: int = BUDGET
    progress: Progress | None = None

    def topk(self, known: Partial, n: int) -> tuple[TopK, Partial]:
        """The n best candidates of each query, and the penalties as they are known then.

        The last search is the same that would be made with all penalties, and so is its result, to the last bit.
        """
        unsettled, wide = self.queries, 2 * n + 14
        while True:
            known = self._settle(known, self._best(unsettled, known, wide), n)
            found = self._best(self.queries, known, n, self.progress)
            unsettled, wide = self.queries[~known.exact[found.indices].all(1)], max(wide, min(4 * wide, WIDEST))
            if not len(unsettled):
                return found, known
            known = self._fill(known, found.indices)  # lists that rounding has ordered otherwise may have left them out

    def ranks(self, known: Partial, gold: Tensor) -> tuple[Tensor, Partial]:
        """Rank of the best gold candidate of each query, (q, g) padded with -1; the penalties as they are known then.

        Who seems to score less than the best gold candidate does so. All others need their exact penalties.
        """
        gold = gold.to(self.queries.device)
        known = self._fill(known, gold[gold >= 0])
        scores = products(self.queries, self.candidates, gold.clamp_min(0)) - known.values[gold] / self.factor
        level = scores.masked_fill(gold < 0, -torch.inf).amax(1)
        level.masked_fill_(level.isinf(), torch.inf)  # without a gold candidate, all are above it whatever they score
        known = self._fill(known, self._reach(known, level - ROUNDING))
        return ranks(self.queries, self.candidates, gold, bias=self._bias(known), budget=self.budget), known

    def _best(self, queries: Tensor, known: Partial, n: int, progress: Progress | None = None) -> TopK:
        return topk(queries, self.candidates, n, bias=self._bias(known), budget=self.budget, progress=progress)

    def _settle(self, known: Partial, listed: TopK, n: int) -> Partial:
        """With the exact penalties of the n best of each list: as bounds become exact, others move up."""
        cosines, n = listed.values - self._bias(known)[listed.indices], min(n, listed.values.shape[1])
        while True:
            best = (cosines + self._bias(known)[listed.indices]).topk(n, dim=1).indices
            missing = known.missing(listed.indices.gather(1, best))
            if not len(missing):
                return known
            known = self._fill(known, missing)

    def _reach(self, known: Partial, level: Tensor) -> Tensor:
        """The candidates that seem to score at least the level of any query.  level: (q,)."""
        reached, first = torch.zeros_like(known.exact), 0
        for rows, blocks in score_blocks(
            self.queries, self.candidates, bias=self._bias(known), width=KEY_BLOCK, budget=self.budget
        ):
            here = level[first : first + len(rows), None]
            for start, scores in blocks:
                reached[start : start + scores.shape[1]] |= (scores >= here).any(0)
            first += len(rows)
        return reached.nonzero()[:, 0]

    def _bias(self, known: Partial) -> Tensor:
        return -known.values[: len(self.candidates)] / self.factor

    def _fill(self, known: Partial, places: Tensor) -> Partial:
        missing = known.missing(places)
        if len(missing) + int(known.exact.sum()) > MOST * len(known.exact):
            missing = (~known.exact).nonzero()[:, 0]
        return known.filled(missing, self.penalties(missing)) if len(missing) else known
