"""The map of a word and its neighbours: a plane before the alignment, and one after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from torch import Tensor


class Plane(NamedTuple):
    """Points (n, 2) in the first two principal components, and the share of the variance that these explain."""

    points: list[list[float]]
    shown: float


def plane(rows: Tensor) -> Plane:
    """The first two principal components:  X − mean = U S Vᵀ,  points = U₂ S₂.  rows: (n, d).

    The sign of a component is arbitrary; it is set so that the number with the largest magnitude is positive.
    """
    u, s, _ = torch.linalg.svd((rows - rows.mean(0)).double(), full_matrices=False)
    points = torch.zeros(len(rows), 2, dtype=torch.double)
    points[:, : min(2, len(s))] = (u * s)[:, :2]
    signs = points.gather(0, points.abs().argmax(0, keepdim=True)).sign()
    variance = float(s.square().sum())
    shown = float(s[:2].square().sum()) / variance if variance else 1.0
    return Plane((points * torch.where(signs == 0, 1.0, signs)).tolist(), shown)
