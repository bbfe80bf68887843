"""The personalised adapter (section 3.1): a small offset for each word, computed from its context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

Activation = Literal["linear", "tanh", "sigmoid", "none"]
SLOPES: dict[Activation, float] = {"linear": 1.0, "tanh": 1.0, "sigmoid": 0.5, "none": 1.0}
"""Slope of each activation at 0."""


def adapt(rows: Tensor, context: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """x̃ = unit(x + σ(x̄ W)).  rows, context: (n, d), W: (d, d). Without an activation the rows are not changed.

    The product x̄ W is made in the precision of the context, all else in that of the rows.

    The sigmoid is made odd, 2 / (1 + e⁻ᵃ) − 1: a plain one is always positive and would move all words the same way.
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
    return offset
