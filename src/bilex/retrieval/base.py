"""The contract of retrieval: `index` two whole mapped tables, then ask it for the best candidates of any queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from bilex.linalg import topk as kernel
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.linalg.topk import Progress, TopK

Direction = Literal["forward", "backward"]
Side = Literal["source", "target"]


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

    def index(self, x: Tensor, z: Tensor, *, budget: int = kernel.BUDGET) -> Index:
        """Both mapped tables, whole, ready for queries in both directions. Penalties are computed at first need."""
        return Index(self, unit(x), unit(z), budget=budget)


@dataclass(frozen=True, eq=False)
class Index:
    """Two whole tables of unit rows in the shared space, with the penalties of their rows."""

    retrieval: Retrieval
    x: Tensor
    z: Tensor
    budget: int = kernel.BUDGET
    penalties: dict[Side, Tensor | None] = field(default_factory=dict)

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
        queries, (side, candidates) = unit(queries), self._candidates(direction)
        bias = self._bias(side, progress)
        found = kernel.topk(
            queries,
            candidates[:first],
            n,
            bias=bias if bias is None else bias[:first],
            budget=self.budget,
            progress=progress,
        )
        scores, own = self.retrieval.factor * found.values, self._own(queries, direction, rows)
        return found._replace(values=scores if own is None else scores - own[:, None])

    def ranks(
        self, queries: Tensor, gold: Tensor, direction: Direction = "forward", *, progress: Progress | None = None
    ) -> Tensor:
        """Rank, from 1, of the best gold candidate of each query.  gold: (q, g), padded with -1."""
        side, candidates = self._candidates(direction)
        return kernel.ranks(unit(queries), candidates, gold, bias=self._bias(side, progress), budget=self.budget)

    def penalty(self, side: Side, *, progress: Progress | None = None) -> Tensor | None:
        """The penalties of one table's rows as candidates, computed once over the whole other table."""
        if side not in self.penalties:
            candidates, others = (self.x, self.z) if side == "source" else (self.z, self.x)
            self.penalties[side] = self.retrieval.penalty(candidates, others, budget=self.budget, progress=progress)
        return self.penalties[side]

    def _candidates(self, direction: Direction) -> tuple[Side, Tensor]:
        return ("target", self.z) if direction == "forward" else ("source", self.x)

    def _own(self, queries: Tensor, direction: Direction, rows: Tensor | None) -> Tensor | None:
        if not self.retrieval.symmetric:
            return None
        if rows is None:
            return self.retrieval.penalty(queries, self._candidates(direction)[1], budget=self.budget)
        known = self.penalty("source" if direction == "forward" else "target")
        return None if known is None else known[rows]

    def _bias(self, side: Side, progress: Progress | None) -> Tensor | None:
        penalty = self.penalty(side, progress=progress)
        return None if penalty is None else -penalty / self.retrieval.factor
