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

    def adapted(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """x̃ = unit(x + σ(x̄ W)) of the words with these row numbers: (n, d)."""
        return adapt(self.rows[rows], self.context[rows], self.adapter, self.activation)

    def mapped(self, matrix: Tensor, rows: Tensor | slice = slice(None)) -> Tensor:
        """unit(x̃ A) of the words with these row numbers: (n, d). Reflections leave the length of x̃ at 1."""
        projected = self.adapted(rows) @ matrix
        return projected if self.kind == "householder" else unit(projected)

    def matrix(self) -> Tensor:
        """The projection as one matrix A: (d, d)."""
        return compose(self.projection) if self.kind == "householder" else self.projection
