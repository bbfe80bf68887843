"""Products of chosen pairs of rows, without the whole matrix."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def products(rows: Tensor, others: Tensor, indices: Tensor) -> Tensor:
    """P_ij = x_i · y_{indices_ij}:  rows X (m, d), others Y (n, d), indices and result (m, w).

    Each product is computed by itself, so its last bits do not depend on the other products. In a matrix product they
    do: the shape of a block decides in which order it adds.
    """
    m, w = indices.shape
    if not m * w:
        return rows.new_empty((m, w))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse", category=UserWarning)  # "in beta state"
        pattern = torch.sparse_csr_tensor(
            torch.arange(0, m * w + 1, w, dtype=indices.dtype, device=indices.device),
            indices.reshape(-1),
            rows.new_zeros(m * w),
            size=(m, len(others)),
            check_invariants=False,
        )
        sampled: Tensor = torch.sparse.sampled_addmm(pattern, rows, others.T, beta=0.0)
    return sampled.values().view(m, w)
