"""The personalised adapter (section 3.1): a small offset for each word, computed from its context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

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
