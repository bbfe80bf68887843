"""Linear regression of paired rows."""

from __future__ import annotations

import torch
from torch import Tensor

NOISE = 1e-6
"""Singular values below this share of the largest are rounding of the vectors, which are in single precision."""


def least_squares(x: Tensor, z: Tensor, penalty: float = 0.0) -> Tensor:
    """W that minimizes ‖XW − Z‖² + λ‖W‖²:  W = V diag(s / (s² + λ)) Uᵀ Z,  U diag(s) Vᵀ = svd(X).

    X: (p, d), Z: (p, e); W: (d, e). Without a penalty λ, of all the W that fit equally well, as there are with fewer
    than d independent rows, that of the smallest norm.
    """
    u, s, vt = torch.linalg.svd(x.double(), full_matrices=False)
    known = s > NOISE * s[0]
    gain = torch.where(known, s / (s * s + penalty).where(known, 1.0), 0.0)
    w: Tensor = (vt.T * gain) @ (u.T @ z.double())
    return w.to(z)


def evenly_spread(x: Tensor, rows: float) -> float:
    """λ such that λI is what so many rows, as long as those of X (p, d) and spread evenly, would add to XᵀX."""
    return rows * float(x.double().square().sum(1).mean()) / x.shape[1]
