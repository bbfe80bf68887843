"""The two sides of a trained model: each word adapted by its context, then projected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import torch

from bilex.linalg.householder import compose, decompose, polar
from bilex.mapping import LinearMapping, Mapping
from bilex.normalize import unit
from bilex.training.adapter import SLOPES, Activation, adapt, context_vectors

if TYPE_CHECKING:
    from torch import Generator, Tensor

Projection = Literal["householder", "linear"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TowerMapping(Mapping, kind="towers"):
    """x → unit(x + σ(x̄ W)) A, z → unit(z + σ(z̄ W')) B, with x̄ the mean of the words around x."""

    source_adapter: Tensor
    target_adapter: Tensor
    source_projection: Tensor
    target_projection: Tensor
    activation: Activation
    tau_source: float
    tau_target: float
    context_cap: int | None

    def source(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Adapted by the source adapter, then projected."""
        return self._map(rows, among, self.tau_source, self.source_adapter, self.source_projection)

    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Adapted by the target adapter, then projected."""
        return self._map(rows, among, self.tau_target, self.target_adapter, self.target_projection)

    def _map(self, rows: Tensor, among: Tensor | None, tau: float, adapter: Tensor, projection: Tensor) -> Tensor:
        if self.activation != "none":
            context = context_vectors(rows, tau, among=among, cap=self.context_cap)
            rows = adapt(rows, context, adapter.to(rows), self.activation)
        return rows @ projection.to(rows)

    def arrays(self) -> dict[str, Tensor]:
        """The four matrices, and the settings as numbers."""
        settings = [list(SLOPES).index(self.activation), self.tau_source, self.tau_target, self.context_cap or 0]
        matrices = ("source_adapter", "target_adapter", "source_projection", "target_projection")
        return {name: getattr(self, name) for name in matrices} | {
            "settings": torch.tensor(settings, dtype=torch.float64)
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`."""
        activation, tau_source, tau_target, cap = arrays["settings"].tolist()
        return cls(
            **{name: array for name, array in arrays.items() if name != "settings"},
            activation=list(SLOPES)[int(activation)],
            tau_source=tau_source,
            tau_target=tau_target,
            context_cap=int(cap) or None,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
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


def start_from(mapping: LinearMapping, activation: Activation, kind: Projection) -> dict[str, Tensor]:
    """Parameters with which the towers do what a linear mapping does, where a word is its own context.

    M = P Q: the symmetric part P goes into the adapter, as (P − I) / slope of σ at 0, the orthogonal part Q into the
    projection. The linear adapter reproduces M exactly, up to its scale; tanh and the odd sigmoid nearly.
    """
    parameters = {}
    matrices = {"source": mapping.source_matrix, "target": mapping.target_matrix}
    for side, matrix in matrices.items():
        d = mapping.source_matrix.shape[0]
        identity = torch.eye(d, dtype=mapping.source_matrix.dtype, device=mapping.source_matrix.device)
        p, q = polar(identity if matrix is None else matrix)
        parameters[f"{side}_adapter"] = (p - identity) / SLOPES[activation]
        parameters[f"{side}_projection"] = decompose(q, d) if kind == "householder" else q
    return parameters


def random_start(d: int, reflections: int, kind: Projection, generator: Generator) -> dict[str, Tensor]:
    """The paper's start: adapters that do nothing yet, and random rotations."""
    parameters = {}
    for side in ("source", "target"):
        v = torch.randn(reflections, d, generator=generator)
        parameters[f"{side}_adapter"] = torch.zeros(d, d)
        parameters[f"{side}_projection"] = v if kind == "householder" else compose(v)
    return parameters
