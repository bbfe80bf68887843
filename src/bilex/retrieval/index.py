"""Two whole mapped tables, ready for queries in both directions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import torch

from bilex.normalize import unit
from bilex.retrieval.partial_penalties import MAX_PARTIAL_SHARE, PartialPenalties, PartialSearch
from bilex.retrieval.sides import SIDES, Sides, from_to, other
from bilex.search.blocks import BUDGET
from bilex.search.lists import TopK, sort_lists
from bilex.search.products import products
from bilex.search.ranks import ranks
from bilex.search.topk import topk, topk_both
from bilex.search.with_bias import best_with_bias

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.retrieval.base import Retrieval
    from bilex.retrieval.sides import Direction, Side
    from bilex.search.blocks import Progress


class PenaltyCache(Protocol):
    """Keeps the penalties of both tables, whole or partial, between programs."""

    def get(self, side: Side) -> Tensor | PartialPenalties | None:
        """The penalties that were put there last; whole ones if there are both."""

    def put(self, side: Side, penalties: Tensor | PartialPenalties) -> None:
        """Keep penalties for the next time."""


MIN_ROWS = 20_000
"""Rows of both tables from which on partial penalties save time; in smaller tables all are computed."""


@dataclass(frozen=True, eq=False, repr=False)
class Index:
    """Two whole tables of unit rows in the shared space, with the penalties of their rows.

    For few queries only the penalties that can matter are computed, for many queries all of them, once. Queries that
    are rows with known neighbours are answered from these first. The answers are the same, and their scores to the last
    bit. Only candidates that differ by less than rounding may change places at the end of a list.
    """

    retrieval: Retrieval
    x: Tensor
    z: Tensor
    budget: int = BUDGET
    cache: PenaltyCache | None = None
    """Where penalties are kept for the next program; they are taken from there at first."""
    penalties: dict[Side, Tensor | None] = field(default_factory=dict)
    partial_penalties: dict[Side, PartialPenalties] = field(default_factory=dict)
    """Penalties of a table that are not all computed."""
    neighbours: dict[Side, TopK] = field(default_factory=dict)
    """The nearest rows of the other table for every row of one: found while all penalties were computed."""

    def __post_init__(self) -> None:
        for side in SIDES:
            cached = None if self.cache is None else self.cache.get(side)
            if isinstance(cached, PartialPenalties):
                self.partial_penalties[side] = cached
            elif cached is not None:
                self.penalties[side] = cached

    def __repr__(self) -> str:
        return f"<Index: {len(self.x):,} source and {len(self.z):,} target rows, by {self.retrieval!r}>"

    def topk(
        self,
        queries: Tensor,
        n: int,
        direction: Direction = "forward",
        *,
        first: int | None = None,
        rows: Tensor | None = None,
        progress: Progress | None = None,
    ) -> TopK:
        """The n best candidates of each query (q, e), best first, with their scores: (q, n).

        With `first`, only the first candidates of their table are considered. `rows` (q,) has the row numbers of the
        queries in their own table, if they are from there: own(q) is then taken from the penalties of that table.
        """
        queries, side = unit(queries), from_to(direction)[1]
        partial = self._partial_penalties(side, n * len(queries))
        if partial is None:
            if rows is not None and self.retrieval.symmetric and not self._saves_time(other(side), len(rows)):
                self.prepare(progress=progress)
            best = self._best(queries, n, side, first, rows, progress)
        else:
            best, partial = self._partial_search(queries, side, first, progress).topk(partial, n)
            self._store_partial(side, partial)
        penalty = self.penalty(side) if partial is None else partial.values
        return self._scored(queries, best.indices, side, penalty, self._own(queries, direction, rows))

    def topk_both(self, n: int, *, progress: Progress | None = None) -> tuple[TopK, TopK]:
        """The n best candidates of every row of both tables, forward and backward, as of `topk`.

        A symmetric score is the same both ways and takes one product of both tables.
        """
        if not self.retrieval.symmetric:
            source, target = (torch.arange(len(table), device=table.device) for table in (self.x, self.z))
            return (
                self.topk(self.x, n, "forward", rows=source, progress=progress),
                self.topk(self.z, n, "backward", rows=target, progress=progress),
            )
        self.prepare(progress=progress)
        bias_x, bias_z = self._bias("source"), self._bias("target")
        assert bias_x is not None  # what is symmetric has penalties
        assert bias_z is not None
        x = torch.cat([self.x, bias_x[:, None], torch.ones_like(bias_x[:, None])], 1)
        z = torch.cat([self.z, torch.ones_like(bias_z[:, None]), bias_z[:, None]], 1)
        forward, backward = topk_both(x, z, n, budget=self.budget, progress=progress)
        r_x, r_z = self.penalties["source"], self.penalties["target"]
        return (
            self._scored(self.x, forward.indices, "target", r_z, r_x),
            self._scored(self.z, backward.indices, "source", r_x, r_z),
        )

    def ranks(
        self, queries: Tensor, gold: Tensor, direction: Direction = "forward", *, progress: Progress | None = None
    ) -> Tensor:
        """Rank, from 1, of the best gold candidate of each query: (q,).  gold: (q, g), padded with -1."""
        queries, side = unit(queries), from_to(direction)[1]
        partial = self._partial_penalties(side, int((gold >= 0).sum()))
        if partial is None:
            bias = self._bias(side, progress)
            return ranks(queries, self._tables(side)[0], gold, bias=bias, budget=self.budget)
        gold_ranks, partial = self._partial_search(queries, side, None, progress).ranks(partial, gold)
        self._store_partial(side, partial)
        return gold_ranks

    def scores(self, rows: Tensor, places: Tensor, direction: Direction = "forward") -> Tensor:
        """The score of each row with one candidate, the same bits as of `topk`.  rows, places, result: (p,)."""
        side = from_to(direction)[1]
        candidates, others = self._tables(side)
        queries = unit(others[rows])
        scores = self.retrieval.factor * products(queries, candidates, places[:, None].to(torch.int32))[:, 0]
        for loss in (self._penalties_of(side, places), self._own(queries, direction, rows)):
            scores = scores if loss is None else scores - loss
        return scores

    def prepare(self, *, progress: Progress | None = None) -> None:
        """Compute the penalties of both tables, by one search if none are computed yet."""
        if self.penalties or self.partial_penalties:
            self.penalty("source", progress=progress)
            self.penalty("target", progress=progress)
            return
        both = self.retrieval.penalties(self.x, self.z, budget=self.budget, progress=progress)
        for side, (values, _) in zip(SIDES, both, strict=True):
            self._store(side, values)
        self.neighbours.update((side, near) for side, (_, near) in zip(SIDES, both, strict=True) if near is not None)

    def penalty(self, side: Side, *, progress: Progress | None = None) -> Tensor | None:
        """The penalties of one table's rows as candidates, computed once over the whole other table."""
        if side in self.partial_penalties and side not in self.penalties:
            partial = self.partial_penalties[side]
            missing = (~partial.exact).nonzero()[:, 0]
            self._store_partial(side, partial.filled(missing, self._exact(side, progress)(missing)))
        elif side not in self.penalties:
            values = self.retrieval.penalty(*self._tables(side), budget=self.budget, progress=progress)
            self._store(side, values)
        return self.penalties[side]

    def _saves_time(self, side: Side, count: int) -> bool:
        """Whether to compute so many of one table's penalties one by one is faster than to compute all."""
        candidates, others = self._tables(side)
        is_large = min(len(candidates), len(others)) >= MIN_ROWS
        return is_large and side not in self.penalties and count <= MAX_PARTIAL_SHARE * len(candidates)

    def _partial_penalties(self, side: Side, count: int) -> PartialPenalties | None:
        """The penalties of one table so far, bounds at first; None if all of them should be computed."""
        if not self._saves_time(side, count):
            return None
        if side not in self.partial_penalties:
            bounds = self.retrieval.bounds(*self._tables(side), budget=self.budget)
            return None if bounds is None else PartialPenalties.of(bounds)
        return self.partial_penalties[side]

    def _store(self, side: Side, values: Tensor | None) -> None:
        self.penalties[side] = values
        if self.cache is not None and values is not None:
            self.cache.put(side, values)

    def _store_partial(self, side: Side, partial: PartialPenalties) -> None:
        if partial.exact.all():
            self._store(side, partial.values)
            return
        self.partial_penalties[side] = partial
        if self.cache is not None:
            self.cache.put(side, partial)

    def _partial_search(
        self, queries: Tensor, side: Side, first: int | None, progress: Progress | None
    ) -> PartialSearch:
        candidates, exact = self._tables(side)[0][:first], self._exact(side, progress)
        return PartialSearch(queries, candidates, self.retrieval.factor, exact, self.budget, progress)

    def _exact(self, side: Side, progress: Progress | None) -> Callable[[Tensor], Tensor]:
        """Computes the penalties of some rows of one table."""
        candidates, others = self._tables(side)

        def compute(rows: Tensor) -> Tensor:
            penalties = self.retrieval.penalty(candidates[rows], others, budget=self.budget, progress=progress)
            assert penalties is not None  # what has bounds has penalties
            return penalties

        return compute

    def _tables(self, side: Side) -> tuple[Tensor, Tensor]:
        """The rows of one side, and those of the other."""
        return Sides(self.x, self.z).first(side)

    def _scored(self, queries: Tensor, indices: Tensor, side: Side, penalty: Tensor | None, own: Tensor | None) -> TopK:
        """Candidates (q, n) with their scores, best first.

        Each score is computed by itself: those of a search differ in the last bits with the shape of its blocks.
        """
        scores = self.retrieval.factor * products(queries, self._tables(side)[0], indices.to(torch.int32))
        if penalty is not None:
            scores -= penalty[indices]
        if own is not None:
            scores -= own[:, None]
        return sort_lists(TopK(scores, indices))

    def _best(
        self, queries: Tensor, n: int, side: Side, first: int | None, rows: Tensor | None, progress: Progress | None
    ) -> TopK:
        """The n best candidates by cos(q, c) − penalty(c) / a, with all penalties."""
        candidates, bias = self._tables(side)[0], self._bias(side, progress)
        neighbours = self.neighbours.get(other(side))
        if n == 1 and first is None and rows is not None and bias is not None and neighbours is not None:
            nearest = TopK(neighbours.values[rows], neighbours.indices[rows])
            return best_with_bias(queries, candidates, bias, nearest, budget=self.budget, progress=progress)
        bias = bias if bias is None else bias[:first]
        return topk(queries, candidates[:first], n, bias=bias, budget=self.budget, progress=progress)

    def _own(self, queries: Tensor, direction: Direction, rows: Tensor | None) -> Tensor | None:
        """own(q) of the queries: (q,)."""
        if not self.retrieval.symmetric:
            return None
        side = from_to(direction)[0]
        if rows is None:
            return self.retrieval.penalty(queries, self._tables(side)[1], budget=self.budget)
        return self._penalties_of(side, rows)

    def _penalties_of(self, side: Side, rows: Tensor) -> Tensor | None:
        """The penalties of some rows of one table; only these are computed if that is faster."""
        candidates, others = self._tables(side)
        if self._saves_time(side, len(rows)):
            return self.retrieval.penalty(candidates[rows], others, budget=self.budget)
        penalty = self.penalty(side)
        return None if penalty is None else penalty[rows]

    def _bias(self, side: Side, progress: Progress | None = None) -> Tensor | None:
        """−penalty / a of one table's rows: (m,)."""
        penalty = self.penalty(side, progress=progress)
        return None if penalty is None else -penalty / self.retrieval.factor
