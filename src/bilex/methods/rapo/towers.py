"""A tower (sections 3.1 and 3.2): adapter and projection of one language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bilex.linalg.householder import compose
from bilex.methods.rapo.adapter import adapt
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.methods.rapo.adapter import Activation

Projection = Literal["householder", "linear"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tower:
    """x → unit(x + σ(x̄ W)) A for the words of one language: its table, its context vectors and its parameters."""

    rows: Tensor
    context: Tensor
    adapter: Tensor
    projection: Tensor
    """Reflections (n, d), or a matrix (d, d)."""
    kind: Projection
    activation: Activation

    def adapted(self, rows: Tensor | None = None, *, context: Tensor | None = None) -> Tensor:
        """x̃ = unit(x + σ(x̄ W)) of the words with these row numbers, else of all: (n, d).

        context: those of all words, in another precision.
        """
        context = self.context if context is None else context
        if rows is None:
            return adapt(self.rows, context, self.adapter, self.activation)
        # index_select is several times as fast as indexing.
        own = self.rows.index_select(0, rows)
        around = own if self.activation == "none" else context.index_select(0, rows)
        return adapt(own, around, self.adapter, self.activation)

    def mapped(self, matrix: Tensor, rows: Tensor | None = None) -> Tensor:
        """unit(x̃ A) of the words with these row numbers, else of all: (n, d)."""
        return self.project(self.adapted(rows), matrix)

    def project(self, adapted: Tensor, matrix: Tensor) -> Tensor:
        """unit(x̃ A).  x̃: (n, d). Reflections leave the length of x̃ at 1."""
        projected = adapted @ matrix
        return projected if self.kind == "householder" else unit(projected)

    def matrix(self) -> Tensor:
        """The projection as one matrix A: (d, d)."""
        return compose(self.projection) if self.kind == "householder" else self.projection
