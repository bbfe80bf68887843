"""The orthogonal map between two sets of paired rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def procrustes(x: Tensor, z: Tensor) -> Tensor:
    """Orthogonal W that minimizes ‖XW − Z‖:  W = U Vᵀ,  U S Vᵀ = svd(Xᵀ Z).  X, Z: (p, d); W: (d, d).

    Schönemann, P. H. (1966). A generalized solution of the orthogonal Procrustes problem. Psychometrika 31.
    """
    u, v = procrustes_bases(x, z)
    return u @ v.T


def procrustes_bases(x: Tensor, z: Tensor, *, determined: bool = False) -> tuple[Tensor, Tensor]:
    """U and V of U S Vᵀ = svd(Xᵀ Z): paired bases of the two spaces, (d, d) each.  X, Z: (p, d).

    With `determined`, only the columns that the pairs determine, (d, r), r the rank of Xᵀ Z. With fewer independent
    pairs than dimensions the other columns are arbitrary.
    """
    u, s, vt = torch.linalg.svd(x.double().T @ z.double())  # in float32 the rank is not clear
    rank = int((s > s[0] * len(s) * torch.finfo(s.dtype).eps).sum()) if determined else len(s)
    return u[:, :rank].to(x), vt[:rank].T.to(z)
