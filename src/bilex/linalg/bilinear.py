"""Regression of pairs on the vectors of both sides."""

from __future__ import annotations

import torch
from torch import Tensor


def bilinear(x: Tensor, z: Tensor, pairs: Tensor, penalty: float) -> Tensor:
    """W that minimizes ‖X W Zᵀ − A‖² + μ ‖W‖², in double precision.  x: (n, d), z: (m, e), pairs: (p, 2); W: (d, e).

    X and Z are the rows that the pairs name, each once; A is 1 where two of them are a pair, else 0.
    With XᵀX = P diag(a) Pᵀ, ZᵀZ = Q diag(b) Qᵀ and C = XᵀAZ, a sum over the different pairs:
    W = P [(Pᵀ C Q)ᵢⱼ / (aᵢ bⱼ + μ)] Qᵀ.  A itself is never built.

    μ = penalty · mean(a) · mean(b) / number of different pairs. So one value of `penalty` fits dictionaries and vectors
    of all sizes: W is about 1/a, and a share of 1/n of A is ones.
    """
    i, j = torch.unique(pairs, dim=0).T
    (a, p), (b, q) = (torch.linalg.eigh(_moments(rows[torch.unique(k)])) for rows, k in ((x, i), (z, j)))
    c = x[i].double().T @ z[j].double()
    a, b = a.clamp_min(0), b.clamp_min(0)  # rounding can make an eigenvalue of 0 slightly negative
    scale = a[:, None] * b + penalty * a.mean() * b.mean() / len(i)
    w: Tensor = p @ ((p.T @ c @ q) / scale) @ q.T
    return w


def _moments(rows: Tensor) -> Tensor:
    return rows.double().T @ rows.double()
