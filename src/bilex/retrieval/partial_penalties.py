"""Exact answers from penalties most of which are only bounded.

    s(q, c) = cos(q, c) − penalty(c) / a  <=  cos(q, c) − bound(c) / a,    bound(c) <= penalty(c)

With a lower bound in place of a penalty, a score can only be too high. So if the n best candidates by such scores all
have exact penalties, they are the n best. Only candidates that come out among the best need their exact penalty, which
takes a product with the whole other table for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import BUDGET, KEY_BLOCK, ROUNDING_ERROR, score_blocks
from bilex.search.products import products
from bilex.search.ranks import ranks
from bilex.search.topk import topk

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK

MAX_PARTIAL_SHARE = 0.5
"""If more than this share of the penalties is needed, all are computed: many more would follow."""
MAX_SHORTLIST = 1000
"""Candidates on a query's list at most, unless more are asked for."""


@dataclass(frozen=True, eq=False)
class PartialPenalties:
    """Penalties of a whole table, (m,): exact ones where `exact` is true, lower bounds elsewhere."""

    values: Tensor
    exact: Tensor

    @classmethod
    def of(cls, bounds: Tensor) -> PartialPenalties:
        """From lower bounds alone."""
        return cls(bounds, torch.zeros_like(bounds, dtype=torch.bool))

    def missing(self, candidates: Tensor) -> Tensor:
        """The candidates whose penalty is not exact, sorted, each once."""
        wanted = torch.zeros_like(self.exact)
        wanted[candidates.reshape(-1)] = True
        return (wanted & ~self.exact).nonzero()[:, 0]

    def filled(self, candidates: Tensor, penalties: Tensor) -> PartialPenalties:
        """With the exact penalties (p,) of some candidates (p,)."""
        values = self.values.index_copy(0, candidates, penalties)
        return PartialPenalties(values, self.exact.index_fill(0, candidates, True))


@dataclass(frozen=True, eq=False)
class PartialSearch:
    """Queries (q, e) among the first candidates (m, e) of a table; exact penalties are computed when needed."""

    queries: Tensor
    candidates: Tensor
    factor: float
    exact_penalties: Callable[[Tensor], Tensor]
    """Computes the exact penalties (p,) of some candidates (p,)."""
    budget: int = BUDGET
    progress: Progress | None = None

    def topk(self, penalties: PartialPenalties, n: int) -> tuple[TopK, PartialPenalties]:
        """The n best candidates of each query, and the penalties after that.

        The last search is the one that all exact penalties would lead to, and so is its result, to the last bit.
        """
        unproven, size = self.queries, 2 * n + 14
        while True:
            penalties = self._make_best_exact(penalties, self._best(unproven, penalties, size), n)
            best = self._best(self.queries, penalties, n, self.progress)
            is_proven = penalties.exact[best.indices].all(1)
            unproven, size = self.queries[~is_proven], max(size, min(4 * size, MAX_SHORTLIST))
            if not len(unproven):
                return best, penalties
            penalties = self._fill(penalties, best.indices)  # a shortlist in another order may have left them out

    def ranks(self, penalties: PartialPenalties, gold: Tensor) -> tuple[Tensor, PartialPenalties]:
        """Rank of the best gold candidate of each query, (q,), and the penalties after that.  gold: (q, g), -1 pads.

        Candidates whose score with a bound is below that of the best gold candidate rank below it. All others need
        their exact penalties.
        """
        gold = gold.to(self.queries.device)
        penalties = self._fill(penalties, gold[gold >= 0])
        scores = products(self.queries, self.candidates, gold.clamp_min(0)) - penalties.values[gold] / self.factor
        threshold = scores.masked_fill(gold < 0, -torch.inf).amax(1)
        threshold.masked_fill_(threshold.isinf(), torch.inf)  # without a gold candidate, no penalty matters
        penalties = self._fill(penalties, self._candidates_above(penalties, threshold - ROUNDING_ERROR))
        bias = self._bias(penalties)
        return ranks(self.queries, self.candidates, gold, bias=bias, budget=self.budget), penalties

    def _best(self, queries: Tensor, penalties: PartialPenalties, n: int, progress: Progress | None = None) -> TopK:
        return topk(queries, self.candidates, n, bias=self._bias(penalties), budget=self.budget, progress=progress)

    def _make_best_exact(self, penalties: PartialPenalties, shortlists: TopK, n: int) -> PartialPenalties:
        """Make the penalties of the n best of each shortlist exact; others then move up, until all n best are exact."""
        cosines = shortlists.values - self._bias(penalties)[shortlists.indices]
        n = min(n, shortlists.values.shape[1])
        while True:
            best = (cosines + self._bias(penalties)[shortlists.indices]).topk(n, dim=1).indices
            missing = penalties.missing(shortlists.indices.gather(1, best))
            if not len(missing):
                return penalties
            penalties = self._fill(penalties, missing)

    def _candidates_above(self, penalties: PartialPenalties, threshold: Tensor) -> Tensor:
        """The candidates that score at least the threshold (q,) of any query, with bounds in place of penalties."""
        is_above, first = torch.zeros_like(penalties.exact), 0
        bias = self._bias(penalties)
        for rows, blocks in score_blocks(self.queries, self.candidates, bias=bias, width=KEY_BLOCK, budget=self.budget):
            own_threshold = threshold[first : first + len(rows), None]
            for start, scores in blocks:
                is_above[start : start + scores.shape[1]] |= (scores >= own_threshold).any(0)
            first += len(rows)
        return is_above.nonzero()[:, 0]

    def _bias(self, penalties: PartialPenalties) -> Tensor:
        """−penalty / a of the candidates: (m,)."""
        return -penalties.values[: len(self.candidates)] / self.factor

    def _fill(self, penalties: PartialPenalties, candidates: Tensor) -> PartialPenalties:
        """Make the penalties of some candidates exact, or all if that is more than `MAX_PARTIAL_SHARE`."""
        missing = penalties.missing(candidates)
        if len(missing) + int(penalties.exact.sum()) > MAX_PARTIAL_SHARE * len(penalties.exact):
            missing = (~penalties.exact).nonzero()[:, 0]
        return penalties.filled(missing, self.exact_penalties(missing)) if len(missing) else penalties
