"""A tower (sections 3.1 and 3.2): the words of one language, adapted by their contexts, then projected."""

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
    """One language: its whole table, the context of every word, and the parameters that move it."""

    rows: Tensor
    context: Tensor
    adapter: Tensor
    projection: Tensor
    """Reflections (n, d), or a matrix (d, d)."""
    kind: Projection
    activation: Activation

    def adapted(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """Words by row number, adapted: (n, d)."""
        return adapt(self.rows[rows], self.context[rows], self.adapter, self.activation)

    def mapped(self, matrix: Tensor, rows: Tensor | slice = slice(None)) -> Tensor:
        """Words by row number, adapted and projected, of length 1: (n, d). Reflections leave the length as it is."""
        projected = self.adapted(rows) @ matrix
        return projected if self.kind == "householder" else unit(projected)

    def matrix(self) -> Tensor:
        """The projection as one matrix."""
        return compose(self.projection) if self.kind == "householder" else self.projection
