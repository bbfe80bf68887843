"""Symmetric roots of second-moment matrices."""

from __future__ import annotations

import torch
from torch import Tensor


def whitener(x: Tensor, penalty: float = 0.0) -> tuple[Tensor, Tensor]:
    """(XᵀX + λI)^(−1/2) and its inverse, symmetric, λ the penalty.  X: (p, d), (d, d) each.

    Eigenvalues below a millionth of the largest one, as there are with fewer than d independent rows, are set to that.
    If all rows are zero, both results are the identity.
    """
    values, vectors = torch.linalg.eigh(x.T.double() @ x.double())
    values = values + penalty
    roots = values.clamp_min(float(values[-1]) * 1e-6 or 1.0).sqrt()
    return ((vectors / roots) @ vectors.T).to(x), ((vectors * roots) @ vectors.T).to(x)
