"""Products of some pairs of rows, without the matrix of all."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def products(rows: Tensor, others: Tensor, places: Tensor) -> Tensor:
    """The product of each row with the others at its places.  rows: (m, d), others: (n, d), places and result: (m, w).

    Each is computed by itself, so that its last bits do not depend on what else is asked for, as those of a matrix
    product do: the shape of a block decides in which order it adds.
    """
    m, w = places.shape
    if not m * w:
        return rows.new_empty((m, w))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse", category=UserWarning)  # "in beta state"
        pattern = torch.sparse_csr_tensor(
            torch.arange(0, m * w + 1, w, dtype=places.dtype, device=places.device),
            places.reshape(-1),
            rows.new_zeros(m * w),
            size=(m, len(others)),
            check_invariants=False,
        )
        found: Tensor = torch.sparse.sampled_addmm(pattern, rows, others.T, beta=0.0)
    return found.values().view(m, w)
