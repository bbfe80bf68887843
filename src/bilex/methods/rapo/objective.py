"""The objective (section 3.3): the losses of the paper and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

Distance = Literal["euclidean", "squared"]
Regularized = Literal["adapters", "all", "joint"]
Origin = Literal["start", "zero"]


@dataclass(frozen=True, kw_only=True)
class LossWeights:
    """L = ranking · L_r + λ₁ L_m + λ₂ L2 + orthogonality · ‖A Aᵀ − I‖²."""

    ranking: float
    by_word: bool
    """Whether all source words have the same weight in L_r, however many translations they have; else all pairs."""
    lambda_1: float
    distance: Distance
    lambda_2: float
    regularize: Regularized
    origin: Origin
    orthogonality: float


def ranking_loss(positive: Tensor, negative: Tensor, valid: Tensor, weight: Tensor) -> Tensor:
    """L_r: weighted mean of −log σ(s⁺ − s⁻), Bayesian personalised ranking.  positive, weight: (b,), others: (b, k).

    Computed as softplus(s⁻ − s⁺), which neither overflows nor loses small differences. Each pair is averaged over its
    valid negatives, then weighted.
    """
    losses = functional.softplus(negative - positive[:, None])
    return (weight * (losses * valid).sum(1) / valid.sum(1).clamp_min(1)).mean()


def pair_loss(x: Tensor, z: Tensor, distance: Distance) -> Tensor:
    """L_m: mean distance of translation pairs.  x, z: (b, d).

    The paper has the Euclidean norm; the authors' program has the squared error, averaged over the dimensions.
    """
    if distance == "squared":
        return functional.mse_loss(x, z)
    # At distance 0 the norm has no gradient; the small constant gives it one.
    return ((x - z).square().sum(1) + 1e-12).sqrt().mean()


def parameter_norm(parameters: list[Tensor], *, joint: bool) -> Tensor:
    """L2 = Σ ‖θ‖, a norm for each parameter, not squared; `joint`: one norm of all, √Σ ‖θ‖²."""
    # At 0 the norm has no gradient; the small constant gives it one.
    squares = torch.stack([p.square().sum() for p in parameters])
    return (squares.sum() + 1e-12).sqrt() if joint else (squares + 1e-12).sqrt().sum()


def gram_error(matrix: Tensor) -> Tensor:
    """A Aᵀ − I: how far a projection (d, d) is from orthogonal."""
    return matrix @ matrix.T - torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
