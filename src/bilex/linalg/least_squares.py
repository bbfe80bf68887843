"""Linear regression of paired rows."""

from __future__ import annotations

import torch
from torch import Tensor

NOISE = 1e-6
"""Singular values below this share of the largest one come from rounding: the vectors are in float32."""


def least_squares(x: Tensor, z: Tensor, penalty: float = 0.0) -> Tensor:
    """W that minimizes ‖XW − Z‖² + λ‖W‖²:  W = V diag(s / (s² + λ)) Uᵀ Z,  U diag(s) Vᵀ = svd(X).

    X: (p, d), Z: (p, e); W: (d, e). With fewer than d independent rows and no penalty, many W fit equally well: then it
    is the one with the smallest norm.
    """
    u, s, vt = torch.linalg.svd(x.double(), full_matrices=False)
    significant = s > NOISE * s[0]
    gain = torch.where(significant, s / (s * s + penalty).where(significant, 1.0), 0.0)
    w: Tensor = (vt.T * gain) @ (u.T @ z.double())
    return w.to(z)


def evenly_spread(x: Tensor, rows: float) -> float:
    """λ = rows · mean ‖x‖² / d: what so many rows like those of X (p, d), evenly spread, would add to XᵀX as λI."""
    return rows * float(x.double().square().sum(1).mean()) / x.shape[1]
