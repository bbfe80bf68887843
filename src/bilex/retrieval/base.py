"""The contract of retrieval: `index` two whole mapped tables, then ask it for the best candidates of any queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bilex.normalize import unit
from bilex.search.blocks import BUDGET

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.retrieval.index import Index
    from bilex.search.blocks import Progress
    from bilex.search.lists import TopK


class Penalties(NamedTuple):
    """The penalties of the rows of a table as candidates, (m,)."""

    values: Tensor | None
    neighbours: TopK | None = None
    """The nearest rows of the other table, if they were searched for the penalties."""


@dataclass(frozen=True, kw_only=True)
class Retrieval(ABC):
    """s(q, c) = a cos(q, c) − penalty(c) − own(q), where the penalty is computed over the whole other table."""

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
        """The penalty of each candidate (m, e) over the other table (n, e): (m,); None if there are no penalties."""

    def penalties(
        self, x: Tensor, z: Tensor, *, budget: int, progress: Progress | None = None
    ) -> tuple[Penalties, Penalties]:
        """Those of all rows of both tables; the same bits as `penalty`."""
        return (
            Penalties(self.penalty(x, z, budget=budget, progress=progress)),
            Penalties(self.penalty(z, x, budget=budget, progress=progress)),
        )

    def bounds(self, candidates: Tensor, others: Tensor, *, budget: int) -> Tensor | None:  # noqa: ARG002
        """Lower bounds of the penalties, (m,), at a small part of their cost; None if there are none."""
        return None

    def index(self, x: Tensor, z: Tensor, *, budget: int = BUDGET) -> Index:
        """Both mapped tables, whole, ready for queries in both directions. Penalties are computed at first need."""
        from bilex.retrieval.index import Index

        return Index(self, unit(x), unit(z), budget=budget)
