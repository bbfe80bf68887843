"""The contract of retrieval: `index` two whole mapped tables, then ask it for the best candidates of any queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import torch

from bilex.errors import SettingsError
from bilex.normalize import unit
from bilex.retrieval.partial_penalties import MOST, Partial, Search
from bilex.search.blocks import BUDGET
from bilex.search.lists import TopK, in_order
from bilex.search.products import products
from bilex.search.ranks import ranks
from bilex.search.topk import topk, topk_both
from bilex.search.with_bias import best_of_near

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.search.blocks import Progress

Direction = Literal["forward", "backward"]
Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")

FEWEST = 20_000
"""Rows of both tables from which on bounds are worth their cost; in smaller ones all penalties are soon computed."""


class Scaling(NamedTuple):
    """What the rows of a table lose as candidates."""

    penalty: Tensor | None
    near: TopK | None = None
    """The nearest rows of the other table, where they were looked up for it."""


@dataclass(frozen=True, kw_only=True)
class Retrieval(ABC):
    """Scores of the form s(q, c) = a cos(q, c) − penalty(c) − own(q), with the penalty from the whole other table."""

    name: ClassVar[str]
    symmetric: ClassVar[bool] = False
    """Whether own(q) is the penalty of q as a candidate; if not, it is 0."""

    @property
    def factor(self) -> float:
        """The a of the score."""
        return 1.0

    @abstractmethod
    def penalty(
        self, candidates: Tensor, others: Tensor, *, budget: int, progress: Progress | None = None
    ) -> Tensor | None:
        """What each candidate (m, e) loses for being near to the other table (n, e) at large: (m,), or nothing."""

    def penalties(
        self, x: Tensor, z: Tensor, *, budget: int, progress: Progress | None = None
    ) -> tuple[Scaling, Scaling]:
        """Those of all rows of both tables, to the same bits."""
        return (
            Scaling(self.penalty(x, z, budget=budget, progress=progress)),
            Scaling(self.penalty(z, x, budget=budget, progress=progress)),
        )

    def bounds(self, candidates: Tensor, others: Tensor, *, budget: int) -> Tensor | None:  # noqa: ARG002
        """What the penalty of no candidate is below, at a small part of its cost: (m,), or nothing."""
        return None

    def index(self, x: Tensor, z: Tensor, *, budget: int = BUDGET) -> Index:
        """Both mapped tables, whole, ready for queries in both directions. Penalties are computed at first need."""
        return Index(self, unit(x), unit(z), budget=budget)


@dataclass(frozen=True, eq=False, repr=False)
class Index:
    """Two whole tables of unit rows in the shared space, with the penalties of their rows.

    For few queries only the penalties that can matter are computed, for many queries all of them, once; where the
    queries are rows whose nearest are known, these are looked at first. The answers are the same, and their scores to
    the last bit; only of candidates that differ by less than rounding another may be the last.
    """

    retrieval: Retrieval
    x: Tensor
    z: Tensor
    budget: int = BUDGET
    penalties: dict[Side, Tensor | None] = field(default_factory=dict)
    partial: dict[Side, Partial] = field(default_factory=dict)
    """What is known of penalties that are not all computed."""
    near: dict[Side, TopK] = field(default_factory=dict)
    """The nearest of the other table, of every row of one: what is left of computing all penalties of both at once."""

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
        """The n best candidates of each query (q, e), best first, with their scores.

        Only the `first` candidates in their table are considered, where that is given. `rows` says which rows of their
        own table the queries are, where they are: their own(q) is then taken from the penalties of that table.
        """
        queries, side = unit(queries), _candidates(direction)
        known = self._partial(side, n * len(queries))
        if known is None:
            if rows is not None and self.retrieval.symmetric and not self._few(_other(side), len(rows)):
                self.prepare(progress=progress)
            found = self._best(queries, n, side, first, rows, progress)
        else:
            found, known = self._search(queries, side, first, progress).topk(known, n)
            self._keep(side, known)
        penalty = self.penalty(side) if known is None else known.values
        return self._scored(queries, found.indices, side, penalty, self._own(queries, direction, rows))

    def topk_both(self, n: int, *, progress: Progress | None = None) -> tuple[TopK, TopK]:
        """The n best candidates of every row of both tables, forward and backward.

        They are those of `topk`. A score that is the same both ways takes one product of all with all.
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
        """Rank, from 1, of the best gold candidate of each query.  gold: (q, g), padded with -1."""
        queries, side = unit(queries), _candidates(direction)
        known = self._partial(side, int((gold >= 0).sum()))
        if known is None:
            bias = self._bias(side, progress)
            return ranks(queries, self._tables(side)[0], gold, bias=bias, budget=self.budget)
        found, known = self._search(queries, side, None, progress).ranks(known, gold)
        self._keep(side, known)
        return found

    def scores(self, rows: Tensor, places: Tensor, direction: Direction = "forward") -> Tensor:
        """The score of each row with one candidate, to the bits of `topk`.  rows, places, result: (p,)."""
        side = _candidates(direction)
        candidates, others = self._tables(side)
        queries = unit(others[rows])
        scores = self.retrieval.factor * products(queries, candidates, places[:, None].to(torch.int32))[:, 0]
        for loss in (self._penalties_of(side, places), self._own(queries, direction, rows)):
            scores = scores if loss is None else scores - loss
        return scores

    def prepare(self, *, progress: Progress | None = None) -> None:
        """Compute the penalties of both tables, in one go where neither's are known."""
        if self.penalties or self.partial:
            self.penalty("source", progress=progress)
            self.penalty("target", progress=progress)
        else:
            found = self.retrieval.penalties(self.x, self.z, budget=self.budget, progress=progress)
            self.penalties["source"], self.penalties["target"] = (side.penalty for side in found)
            self.near.update((side, near) for side, (_, near) in zip(SIDES, found, strict=True) if near is not None)

    def penalty(self, side: Side, *, progress: Progress | None = None) -> Tensor | None:
        """The penalties of one table's rows as candidates, computed once over the whole other table."""
        if side in self.partial and side not in self.penalties:
            known = self.partial[side]
            missing = (~known.exact).nonzero()[:, 0]
            self._keep(side, known.filled(missing, self._exact(side, progress)(missing)))
        elif side not in self.penalties:
            self.penalties[side] = self.retrieval.penalty(*self._tables(side), budget=self.budget, progress=progress)
        return self.penalties[side]

    def _few(self, side: Side, wanted: int) -> bool:
        """Whether so few of one table's penalties are wanted that it is better not to compute them all."""
        candidates, others = self._tables(side)
        large = min(len(candidates), len(others)) >= FEWEST
        return large and side not in self.penalties and wanted <= MOST * len(candidates)

    def _partial(self, side: Side, wanted: int) -> Partial | None:
        """What is known of one table's penalties, bounds at first; nothing where all of them should be computed."""
        if not self._few(side, wanted):
            return None
        if side not in self.partial:
            bounds = self.retrieval.bounds(*self._tables(side), budget=self.budget)
            return None if bounds is None else Partial.of(bounds)
        return self.partial[side]

    def _keep(self, side: Side, known: Partial) -> None:
        if known.exact.all():
            self.penalties[side] = known.values
        else:
            self.partial[side] = known

    def _search(self, queries: Tensor, side: Side, first: int | None, progress: Progress | None) -> Search:
        candidates = self._tables(side)[0][:first]
        return Search(queries, candidates, self.retrieval.factor, self._exact(side, progress), self.budget, progress)

    def _exact(self, side: Side, progress: Progress | None) -> Callable[[Tensor], Tensor]:
        """Computes the penalties of some rows of one table."""
        candidates, others = self._tables(side)

        def compute(places: Tensor) -> Tensor:
            found = self.retrieval.penalty(candidates[places], others, budget=self.budget, progress=progress)
            assert found is not None  # what has bounds has penalties
            return found

        return compute

    def _tables(self, side: Side) -> tuple[Tensor, Tensor]:
        """The rows of one side, and those of the other."""
        return (self.x, self.z) if side == "source" else (self.z, self.x)

    def _scored(self, queries: Tensor, places: Tensor, side: Side, penalty: Tensor | None, own: Tensor | None) -> TopK:
        """Candidates with their scores, best first.  places: (q, n).

        A score is that of the pair alone: what a search tells of it differs in the last bits with its blocks.
        """
        scores = self.retrieval.factor * products(queries, self._tables(side)[0], places.to(torch.int32))
        if penalty is not None:
            scores -= penalty[places]
        if own is not None:
            scores -= own[:, None]
        return in_order(TopK(scores, places))

    def _best(
        self, queries: Tensor, n: int, side: Side, first: int | None, rows: Tensor | None, progress: Progress | None
    ) -> TopK:
        """The n best candidates by all penalties, by the score without its factor and own(q)."""
        candidates, bias, near = self._tables(side)[0], self._bias(side, progress), self.near.get(_other(side))
        if n == 1 and first is None and rows is not None and bias is not None and near is not None:
            listed = TopK(near.values[rows], near.indices[rows])
            return best_of_near(queries, candidates, bias, listed, budget=self.budget, progress=progress)
        bias = bias if bias is None else bias[:first]
        return topk(queries, candidates[:first], n, bias=bias, budget=self.budget, progress=progress)

    def _own(self, queries: Tensor, direction: Direction, rows: Tensor | None) -> Tensor | None:
        if not self.retrieval.symmetric:
            return None
        side: Side = "source" if direction == "forward" else "target"
        if rows is None:
            return self.retrieval.penalty(queries, self._tables(side)[1], budget=self.budget)
        return self._penalties_of(side, rows)

    def _penalties_of(self, side: Side, rows: Tensor) -> Tensor | None:
        """The penalties of some rows of one table; where they are few, only these are computed."""
        candidates, others = self._tables(side)
        if self._few(side, len(rows)):
            return self.retrieval.penalty(candidates[rows], others, budget=self.budget)
        known = self.penalty(side)
        return None if known is None else known[rows]

    def _bias(self, side: Side, progress: Progress | None = None) -> Tensor | None:
        penalty = self.penalty(side, progress=progress)
        return None if penalty is None else -penalty / self.retrieval.factor


def both_sides(sides: Side | tuple[Side, Side]) -> tuple[Side, Side]:
    """The sides of a first and a second word; one side is that of both."""
    first, second = (sides, sides) if isinstance(sides, str) else sides if len(sides) == 2 else (None, None)
    if first not in SIDES or second not in SIDES:
        raise SettingsError(f"sides={sides!r}: needed 'source', 'target', or two of these such as {SIDES}")
    return first, second


def _candidates(direction: Direction) -> Side:
    return "target" if direction == "forward" else "source"


def _other(side: Side) -> Side:
    return "source" if side == "target" else "target"
