"""Orthogonal matrices as products of reflections."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def compose(v: Tensor) -> Tensor:
    """H(v₁) H(v₂) … H(vₙ) as one matrix, H(v) = I − 2 v vᵀ / vᵀv.  v: (n, d), no zero rows; result: (d, d).

    In compact form I − Vᵀ S⁻¹ V with unit rows V and S = strict_upper(V Vᵀ) + I/2: one triangular solve instead of n
    reflections, differentiable, and orthogonal to rounding whatever v is.
    """
    composed: Tensor = _CompactForm.apply(torch.nn.functional.normalize(v, dim=1))  # type: ignore[no-untyped-call]
    return composed


class _CompactForm(torch.autograd.Function):
    """I − Vᵀ S⁻¹ V of unit rows V, with a gradient that takes fewer products than that of its single steps.

    With Y = S⁻¹ V, W = S⁻ᵀ V, the gradient G of the result, and M = strict_upper(W G Yᵀ), the gradient of V is
    (M + Mᵀ) V − W G − Y Gᵀ.
    """

    @staticmethod
    def forward(ctx: Any, v: Tensor) -> Tensor:
        s = (v @ v.T).triu_(1)
        s.diagonal().fill_(0.5)
        y = torch.linalg.solve_triangular(s, v, upper=True)
        ctx.save_for_backward(v, s, y)
        return torch.eye(v.shape[1], dtype=v.dtype, device=v.device).sub_(v.T @ y)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # type: ignore[override]
        v, s, y = ctx.saved_tensors
        w = torch.linalg.solve_triangular(s.T, v, upper=False)
        wg = w @ gradient
        m = (wg @ y.T).triu_(1)
        of_v: Tensor = ((m + m.T) @ v).sub_(wg).sub_(y @ gradient.T)
        return of_v


def decompose(q: Tensor, n: int | None = None) -> Tensor:
    """Reflections v (n, d) with compose(v) = q, for any orthogonal q (d, d): the constructive half of Theorem 1.

    For k = 1 … d, column k of the remaining matrix is reflected onto e_k, unless it is e_k already. The number of
    reflections is at most d, even for determinant 1 and odd for −1. With `n`, pairs of equal reflections, which cancel,
    are added up to n, or up to n + 1 if the parity needs it.
    """
    # q is made orthogonal in float64 first: its rounding errors would pass for directions to reflect along.
    u, _, vt = torch.linalg.svd(q.double())
    remaining, vectors = u @ vt, []
    for k in range(len(q)):
        v = remaining[:, k].clone()
        v[k] -= 1
        if v.norm() > 1e-8:
            v = v / v.norm()
            remaining -= 2 * v[:, None] * (v @ remaining)
            vectors.append(v)
    missing = 0 if n is None else max(0, n - len(vectors))
    fill = torch.eye(len(q), dtype=remaining.dtype, device=q.device)
    pairs = [fill[i % len(q)] for i in range((missing + 1) // 2) for _ in range(2)]
    # The identity has no reflections at all: two equal ones stand for it.
    vectors += pairs or ([] if vectors else [fill[0], fill[0]])
    return torch.stack(vectors).to(q)


def polar(m: Tensor) -> tuple[Tensor, Tensor]:
    """M = P Q with P symmetric, positive, of mean eigenvalue 1, and Q orthogonal; M is scaled to that.  M: (d, d)."""
    u, s, vt = torch.linalg.svd(m.double())
    return ((u * (s / s.mean())) @ u.T).to(m), (u @ vt).to(m)
