"""The personalised adapter (section 3.1): a small offset for each word, computed from its context."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from bilex.normalize import MIN_LENGTH, unit

Activation = Literal["linear", "tanh", "sigmoid", "none", "plain_sigmoid"]
SLOPES: dict[Activation, float] = {"linear": 1.0, "tanh": 1.0, "sigmoid": 0.5, "none": 1.0, "plain_sigmoid": 0.25}
"""Slope of each activation at 0."""


def adapt(rows: Tensor, context: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """x̃ = unit(x + σ(x̄ W)).  rows, context: (n, d), W: (d, d). Without an activation the rows are not changed.

    The product x̄ W is made in the precision of the context, all else in that of the rows.

    `sigmoid` is made odd, 2 / (1 + e⁻ᵃ) − 1. The plain one, 1 / (1 + e⁻ᵃ), is always positive: it moves all words along
    (1, …, 1) / 2, whatever W is.
    """
    if activation == "none":
        return rows
    return unit(rows + offsets(context, w, activation))


def cosines(x: Tensor, rows: Tensor, context: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """C = X Ỹᵀ, of few given rows X (b, d) with many adapted rows ỹ = unit(y + σ(ȳ W)), Y, Ȳ: (n, d). Result: (b, n).

    All products are made in the precision of the context.
    """
    c: Tensor = _Cosines.apply(x, rows, context, w, activation)  # type: ignore[no-untyped-call]
    return c


class _Cosines(torch.autograd.Function):
    """`cosines` with its gradient in one formula, which needs half the time of one step after the other.

    With s the lengths ‖y + σ(ȳ W)‖, G the gradient of C and ∘ the product of each number with its counterpart:
    X̄ = G Ỹ;  W̄ = Ȳᵀ (σ′ ∘ D),  D = (Gᵀ X − a Ỹ) / s,  a = the sums of G ∘ C over X: the part of Gᵀ X along ỹ.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Tensor, context: Tensor, w: Tensor, activation: Activation) -> Tensor:
        offset = None if activation == "none" else offsets(context, w, activation)
        y = rows if offset is None else rows + offset
        length: Tensor = torch.linalg.vector_norm(y, dim=1, keepdim=True).clamp_min(MIN_LENGTH)
        y, low = (y / length).to(context.dtype), x.to(context.dtype)
        c = (low @ y.T).to(x.dtype)
        ctx.save_for_backward(low, y, context, length, c, _slope(offset, activation))
        ctx.adapts = offset is not None
        return c

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, Tensor | None, None]:
        x, y, context, length, c, slope = ctx.saved_tensors
        of_x = (gradient.to(y.dtype) @ y).to(gradient.dtype)
        if not ctx.adapts:
            return of_x, None, None, None, None
        along = (gradient * c).sum(0)[:, None] / length
        of_sum = ((gradient / length.T).to(x.dtype).T @ x).addcmul_(y, along.to(y.dtype), value=-1)
        if slope is not None:
            of_sum.mul_(slope)
        return of_x, None, None, (context.T @ of_sum).to(gradient.dtype), None


def _slope(offset: Tensor | None, activation: Activation) -> Tensor | None:
    """σ′ from the values of σ; None where it is 1."""
    if offset is None or activation == "linear":
        return None
    if activation == "plain_sigmoid":
        return offset - offset.square()
    slope: Tensor = (1 - offset.square()) * SLOPES[activation]
    return slope


def offsets(context: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """σ(x̄ W), the offset of each word: (n, d)."""
    offset = (context @ w.to(context.dtype)).to(w.dtype)
    if activation == "tanh":
        return offset.tanh()
    if activation == "sigmoid":
        return 2 * offset.sigmoid() - 1
    if activation == "plain_sigmoid":
        return offset.sigmoid()
    return offset
