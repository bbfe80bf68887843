"""The personalised adapter: each word is moved a little, by what its neighbourhood says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from bilex.linalg.topk import BUDGET, KEY_BLOCK, score_blocks, topk
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Tensor

Activation = Literal["linear", "tanh", "sigmoid", "none"]
SLOPES: dict[Activation, float] = {"linear": 1.0, "tanh": 1.0, "sigmoid": 0.5, "none": 1.0}
"""The activations, and the slope of each at 0."""
ITSELF = 1 - 1e-5
"""A cosine from which on a row of the table is taken for the word itself; rounding leaves less than 1."""


def adapt(rows: Tensor, context: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """x̃ = unit(x + σ(x̄ W)).  rows, context: (n, d), W: (d, d). Without an activation the rows stay as they are.

    The sigmoid is shifted and stretched to be odd, 2 / (1 + e⁻ᵃ) − 1: a plain one would push every word the same way.
    """
    if activation == "none":
        return rows
    offset = context @ w
    if activation == "tanh":
        offset = offset.tanh()
    elif activation == "sigmoid":
        offset = 2 * offset.sigmoid() - 1
    return unit(rows + offset)


def context_vectors(
    rows: Tensor, tau: float, *, among: Tensor | None = None, cap: int | None = None, budget: int = BUDGET
) -> Tensor:
    """x̄: the mean of a word and of all words whose cosine with it exceeds τ.  rows: (n, d) unit rows; result: (n, d).

    Neighbours are looked for in `among`, or in `rows` themselves; only the `cap` nearest, where that is given, the word
    itself counted. A row that is not in `among`, a word made of subwords, say, joins its neighbours there.
    """
    table = rows if among is None else among
    if not len(table):
        return rows
    total, count, nearest = (
        _all_neighbours(rows, table, tau, budget) if cap is None else _some_neighbours(rows, table, tau, cap, budget)
    )
    # By rounding, a word may also just miss itself when τ is all but 1.
    missing = (nearest < ITSELF) | (count == 0)
    return (total + rows * missing) / (count + missing)


def _all_neighbours(rows: Tensor, table: Tensor, tau: float, budget: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sum (n, d) and number (n, 1) of the neighbours, and the cosine of the nearest (n, 1)."""
    total, count = torch.zeros_like(rows), rows.new_zeros(len(rows), 1)
    nearest = rows.new_full((len(rows), 1), -torch.inf)
    done = 0
    for block, parts in score_blocks(rows, table, width=KEY_BLOCK, budget=budget):
        here = slice(done, done + len(block))
        for start, scores in parts:
            row, column = (scores > tau).nonzero(as_tuple=True)
            total.index_add_(0, row + done, table[column + start])
            count[here, 0] += row.bincount(minlength=len(block))
            nearest[here] = torch.maximum(nearest[here], scores.amax(1, keepdim=True))
        done += len(block)
    return total, count, nearest


def _some_neighbours(rows: Tensor, table: Tensor, tau: float, cap: int, budget: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same of the `cap` nearest; of one less where the word itself is not among them."""
    near = topk(rows, table, cap, budget=budget)
    nearest = near.values[:, :1]
    weights = (near.values > tau).to(rows)
    weights[:, cap - 1 :] *= nearest >= ITSELF
    total = torch.nn.functional.embedding_bag(near.indices, table, mode="sum", per_sample_weights=weights)
    return total, weights.sum(1, keepdim=True), nearest
