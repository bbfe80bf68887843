"""Initial parameters: at random, from a linear map (by Theorem 1), or from trained towers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch.nn.functional import pad

from bilex.linalg.householder import compose, decompose, polar
from bilex.methods.rapo.adapter import SLOPES

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import LinearMapping
    from bilex.methods.rapo.adapter import Activation
    from bilex.methods.rapo.mapping import TowerMapping
    from bilex.methods.rapo.towers import Projection

AdapterStart = Literal["zeros", "uniform"]
Parameters = dict[str, "Tensor"]
"""By name, for source and target: an adapter (d, d), and a projection, reflections (n, d) or a matrix (d, d)."""


def from_linear(mapping: LinearMapping, activation: Activation, kind: Projection) -> Parameters:
    """M = P Q, P symmetric, Q orthogonal:  adapter W = (P − I) / σ'(0),  projection Q.  M: (d, d).

    For a word whose context is the word itself, x + x W = x P: the towers then do what the linear map M does. The
    linear adapter reproduces M exactly, up to scale; tanh and the odd sigmoid approximately. By Theorem 1 of the paper,
    d reflections are enough for any Q. If M has fewer columns, because few pairs do not determine all, the missing
    columns are 0.
    """
    parameters = {}
    matrices = {"source": mapping.source_matrix, "target": mapping.target_matrix}
    for side, matrix in matrices.items():
        d = mapping.source_matrix.shape[0]
        identity = torch.eye(d, dtype=mapping.source_matrix.dtype, device=mapping.source_matrix.device)
        p, q = polar(identity if matrix is None else pad(matrix, (0, d - matrix.shape[1])))
        parameters[f"{side}_adapter"] = (p - identity) / SLOPES[activation]
        parameters[f"{side}_projection"] = decompose(q, d) if kind == "householder" else q
    return parameters


def from_towers(mapping: TowerMapping, kind: Projection) -> Parameters:
    """The parameters of trained towers."""
    parameters = {"source_adapter": mapping.source_adapter, "target_adapter": mapping.target_adapter}
    for side, q in (("source", mapping.source_projection), ("target", mapping.target_projection)):
        parameters[f"{side}_projection"] = decompose(q, len(q)) if kind == "householder" else q
    return parameters


def random_start(
    d: int, reflections: int, kind: Projection, generator: Generator, *, adapters: AdapterStart = "zeros"
) -> Parameters:
    """Random orthogonal projections, products of reflections v ~ N(0, I).

    adapters: matrices of zeros; or uniform in ±1/√d, as in the authors' program.
    """
    parameters = {}
    for side in ("source", "target"):
        v = torch.randn(reflections, d, generator=generator)
        w = torch.zeros(d, d)
        parameters[f"{side}_adapter"] = (
            w if adapters == "zeros" else w.uniform_(-(d**-0.5), d**-0.5, generator=generator)
        )
        parameters[f"{side}_projection"] = v if kind == "householder" else compose(v)
    return parameters
