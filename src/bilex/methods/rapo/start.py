"""Where the training starts: from random parameters, from a linear map (by Theorem 1), or from trained towers."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

Parameters = dict[str, "Tensor"]
"""By name: an adapter (d, d) and a projection, reflections (n, d) or a matrix (d, d), of source and target."""


def from_linear(mapping: LinearMapping, activation: Activation, kind: Projection) -> Parameters:
    """Parameters with which the towers do what a linear mapping does, where a word is its own context.

    M = P Q: the symmetric part P goes into the adapter, as (P − I) / slope of σ at 0, the orthogonal part Q into the
    projection. The linear adapter reproduces M exactly, up to its scale; tanh and the odd sigmoid nearly. Columns that
    M lacks, where pairs are too few to determine them, are 0, and so is what P leaves of those directions.
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
    """Parameters with which the towers do what trained ones do."""
    parameters = {"source_adapter": mapping.source_adapter, "target_adapter": mapping.target_adapter}
    for side, q in (("source", mapping.source_projection), ("target", mapping.target_projection)):
        parameters[f"{side}_projection"] = decompose(q, len(q)) if kind == "householder" else q
    return parameters


def random_start(d: int, reflections: int, kind: Projection, generator: Generator) -> Parameters:
    """The paper's start: adapters that do nothing yet, and random rotations."""
    parameters = {}
    for side in ("source", "target"):
        v = torch.randn(reflections, d, generator=generator)
        parameters[f"{side}_adapter"] = torch.zeros(d, d)
        parameters[f"{side}_projection"] = v if kind == "householder" else compose(v)
    return parameters
