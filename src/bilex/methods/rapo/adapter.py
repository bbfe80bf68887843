"""The personalised adapter (section 3.1): each word is moved a little, as its context says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

Activation = Literal["linear", "tanh", "sigmoid", "none"]
SLOPES: dict[Activation, float] = {"linear": 1.0, "tanh": 1.0, "sigmoid": 0.5, "none": 1.0}
"""The activations, and the slope of each at 0."""


def adapt(rows: Tensor, context: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """x̃ = unit(x + σ(x̄ W)).  rows, context: (n, d), W: (d, d). Without an activation the rows stay as they are.

    The sigmoid is shifted and stretched to be odd, 2 / (1 + e⁻ᵃ) − 1: a plain one would push every word the same way.
    """
    if activation == "none":
        return rows
    return unit(rows + offsets(context, w, activation))


def offsets(context: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """σ(x̄ W), by which each word is moved: (n, d)."""
    offset = context @ w
    if activation == "tanh":
        return offset.tanh()
    if activation == "sigmoid":
        return 2 * offset.sigmoid() - 1
    return offset
