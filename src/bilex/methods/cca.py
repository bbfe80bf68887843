"""Canonical correlation analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from bilex.errors import SettingsError
from bilex.linalg.least_squares import evenly_spread
from bilex.linalg.whitening import whitener
from bilex.mapping import LinearMapping
from bilex.methods.base import Method

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class CCA(Method):
    """Both languages mapped to the directions in which translations correlate most: canonical correlation.

    With A = (XᵀX + λI)^(−1/2), B = (ZᵀZ + μI)^(−1/2) over the train pairs and U S Vᵀ = svd((X A)ᵀ (Z B)):
    x → x A U,  z → z B V, with the r columns of the largest S.  X, Z: (p, d); A U, B V: (d, r). This is VecMap
    without re-weighting and de-whitening, cut to r columns. In the limit of a large penalty, with all columns, it is
    Procrustes.

    The paper has no penalty. But with few pairs all directions correlate by chance; with fewer pairs than dimensions
    they correlate perfectly. As in `ridge`, the penalty is a number of pairs, spread evenly over all directions: it has
    much weight beside few pairs, and little beside thousands. Moments are taken around 0, where `normalize` has moved
    the mean of each table, and not around the mean of the pairs.
    """

    name = "cca"
    paper = "Faruqui and Dyer (2014). Improving vector space word representations using multilingual correlation. EACL"
    closed_form = True

    share: float = 0.8
    """Share of the directions in the result, r / d; at most as many as the pairs determine."""
    penalty: float = 1000.0
    """λ and μ of the formula, as a number of pairs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share <= 1:
            raise SettingsError(f"{self.name}: share={self.share}; needed a number above 0, at most 1")
        if not 0 <= self.penalty < float("inf"):
            raise SettingsError(f"{self.name}: penalty={self.penalty}; needed a number from 0")

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """Closed form."""
        x_d, z_d = x[pairs[:, 0]].double(), z[pairs[:, 1]].double()
        a, b = (whitener(rows, evenly_spread(rows, self.penalty))[0] for rows in (x_d, z_d))
        u, s, vt = torch.linalg.svd((x_d @ a).T @ (z_d @ b))
        determined = int((s > 1e-6 * s[0]).sum())  # below this, only rounding errors of float32
        r = max(1, min(round(self.share * len(s)), determined))
        return LinearMapping(source_matrix=(a @ u[:, :r]).to(x), target_matrix=(b @ vt[:r].T).to(z))
