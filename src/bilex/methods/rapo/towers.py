"""A tower (sections 3.1 and 3.2): adapter and projection of one language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch

from bilex.linalg.householder import compose, reflect
from bilex.methods.rapo.adapter import adapt, cosines
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.methods.rapo.adapter import Activation

Projection = Literal["householder", "linear"]
BLOCK_ROWS = 1024
"""Rows that are mapped at a time."""


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

    @torch.no_grad()
    def mapped(self) -> Tensor:
        """unit(x̃ A) of all words: (n, d). Block by block, so that what is in between stays in the cache."""
        mapped, matrix = torch.empty_like(self.rows), self.matrix()
        for own, around, block in zip(
            *(torch.split(t, BLOCK_ROWS) for t in (self.rows, self.context, mapped)), strict=True
        ):
            torch.mm(adapt(own, around, self.adapter, self.activation), matrix, out=block)
        return mapped if self.kind == "householder" else unit(mapped)

    def map_few(self, rows: Tensor) -> Tensor:
        """unit(x̃ A) of a few words: (b, d). Reflections leave the length of x̃ at 1."""
        adapted = adapt(*self._gather(rows, self.context), self.adapter, self.activation)
        return reflect(adapted, self.projection) if self.kind == "householder" else unit(adapted @ self.projection)

    def cosines(self, y: Tensor, rows: Tensor, context: Tensor) -> Tensor:
        """Y · unit(x̃ A) of a few mapped rows Y (b, d) and the words with these row numbers (n,): (b, n).

        context: those of all words; its precision is that of the products. With reflections y · x̃ A = y Aᵀ · x̃, so
        they are applied to the few rows, not to the many words.
        """
        own, around = self._gather(rows, context)
        if self.kind == "householder":
            y = reflect(y, self.projection, inverse=True)
            return cosines(y, own, around, self.adapter, self.activation)
        x = unit(adapt(own, around, self.adapter, self.activation) @ self.projection)
        return (y.to(context.dtype) @ x.to(context.dtype).T).to(y.dtype)

    def _gather(self, rows: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """The rows and the context vectors of some words. `index_select` is several times as fast as indexing."""
        own = self.rows.index_select(0, rows)
        return own, context[:0] if self.activation == "none" else context.index_select(0, rows)

    def matrix(self) -> Tensor:
        """The projection as one matrix A: (d, d)."""
        return compose(self.projection) if self.kind == "householder" else self.projection
