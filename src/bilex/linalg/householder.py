"""Orthogonal matrices as products of reflections.

A reflection H(v) = I − 2 v vᵀ, ‖v‖ = 1, has the eigenvalue −1 along v and 1 across it, so det H(v) = −1. A product of n
reflections therefore has the determinant (−1)ⁿ: it is in that half of O(d) which has this determinant, and in no other.
Every matrix of O(d) is a product of at most d reflections (`decompose` finds them), and their number n has the parity
that its determinant needs, (−1)ⁿ = det. So d reflections reach one half of O(d), and d − 1 or d + 1 reach the other
half. Theorem 1 of the paper of RAPO, that products of exactly d reflections are all of O(d), holds with one more word:
its proof fills up with v = 0, for which H(v) = I, and which is no unit vector.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def compose(v: Tensor) -> Tensor:
    """H(v₁) H(v₂) … H(vₙ) as one matrix, H(v) = I − 2 v vᵀ / vᵀv.  v: (n, d), no zero rows; result: (d, d).

    In compact form I − Vᵀ S⁻¹ V: one triangular solve instead of n reflections, and differentiable. It is computed in
    float64 and rounded once, since in float32 clustered v cost digits. The result Q then is orthogonal to rounding
    whatever v is: Q differs from an orthogonal matrix by at most u |q| in an entry q, u = 2⁻²⁴ in float32, so by
    Cauchy and Schwarz no entry of Q Qᵀ − I is larger than 2u = 1.2e-7, besides what computing Q Qᵀ adds.
    """
    wide = torch.nn.functional.normalize(v.double(), dim=1)
    identity = torch.eye(v.shape[1], dtype=wide.dtype, device=v.device)
    solved: Tensor = torch.linalg.solve_triangular(_upper(wide), wide, upper=True)
    return (identity - wide.T @ solved).to(v)


def reflect(rows: Tensor, v: Tensor, *, inverse: bool = False) -> Tensor:
    """X A of rows X (m, d) with A = compose(v), or X Aᵀ, which undoes it. For few rows cheaper than compose(v).

    In the precision of v. In float32 the length of unit rows is kept to about 1e-6, with clustered v to 1e-5.
    """
    reflected: Tensor = _Reflect.apply(rows, torch.nn.functional.normalize(v, dim=1), inverse)  # type: ignore[no-untyped-call]
    return reflected


class _Reflect(torch.autograd.Function):
    """X − T V with T S = X Vᵀ (inverse: T Sᵀ = X Vᵀ), for unit rows V and S as in `_upper`.

    Its gradient takes half of the products that it would take step by step. For the gradient G of the result:
    solve B Sᵀ = −G Vᵀ (inverse: B S = −G Vᵀ); then X̄ = G + B V and V̄ = Bᵀ X − Tᵀ G + (R + Rᵀ) V, with R the part of
    −Tᵀ B (inverse: −Bᵀ T) above the diagonal.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, v: Tensor, inverse: bool) -> Tensor:
        s = _upper(v)
        t = _solve(s, rows @ v.T, transposed=inverse)
        ctx.save_for_backward(rows, v, s, t)
        ctx.inverse = inverse
        return torch.addmm(rows, t, v, alpha=-1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        rows, v, s, t = ctx.saved_tensors
        b = _solve(s, -(gradient @ v.T), transposed=not ctx.inverse)
        upper = torch.mm(b.T, t) if ctx.inverse else torch.mm(t.T, b)
        upper = upper.neg_().triu_(1)
        of_v = (upper + upper.T) @ v
        of_v = of_v.addmm_(b.T, rows).addmm_(t.T, gradient, alpha=-1)
        return torch.addmm(gradient, b, v), of_v, None


def _solve(s: Tensor, right: Tensor, *, transposed: bool) -> Tensor:
    """T with T S = right, or T Sᵀ = right."""
    solved: Tensor = torch.linalg.solve_triangular(s.T if transposed else s, right, upper=not transposed, left=False)
    return solved


def _upper(v: Tensor) -> Tensor:
    """S = strict_upper(V Vᵀ) + I/2 of unit rows V (n, d): (n, n)."""
    upper = (v @ v.T).triu(1)
    return upper + torch.diag_embed(torch.full_like(v[:, 0], 0.5))


def decompose(q: Tensor, n: int | None = None) -> Tensor:
    """Reflections v (n, d) with compose(v) = q, for any orthogonal q (d, d): the constructive half of Theorem 1.

    For k = 1 … d, column k of the remaining matrix is reflected onto e_k, unless it is e_k already. The number of
    reflections is at most d, and even for determinant 1, odd for −1 (see above). With `n`, pairs of equal reflections,
    which cancel, are added up to n, or up to n + 1 if the parity needs it.
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
