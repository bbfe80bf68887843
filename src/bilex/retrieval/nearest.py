"""Plain nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bilex.retrieval.base import Retrieval

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.linalg.topk import Progress


@dataclass(frozen=True, kw_only=True)
class Nearest(Retrieval):
    """cos(q, c)."""

    name = "nn"

    def penalty(
        self, candidates: Tensor, others: Tensor, *, budget: int, progress: Progress | None = None  # noqa: ARG002
    ) -> None:
        """None."""
        return
