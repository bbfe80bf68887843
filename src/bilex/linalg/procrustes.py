"""The orthogonal map between two sets of paired rows."""

import torch
from torch import Tensor


def procrustes(x: Tensor, z: Tensor) -> Tensor:
    """Orthogonal W that minimizes ‖XW − Z‖:  W = U Vᵀ,  U S Vᵀ = svd(Xᵀ Z).  X, Z: (p, d); W: (d, d).

    Schönemann, P. H. (1966). A generalized solution of the orthogonal Procrustes problem. Psychometrika 31.
    """
    u: Tensor
    vt: Tensor
    u, _, vt = torch.linalg.svd(x.T @ z)
    return u @ vt
