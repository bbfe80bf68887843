"""Orthogonal Procrustes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilex.linalg.procrustes import procrustes
from bilex.mapping import LinearMapping
from bilex.methods.base import Method

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Procrustes(Method):
    """Orthogonal map in closed form.

    Minimizes ‖XW − Z‖ over the train pairs with WᵀW = I. Rotations keep all distances within the source language, so
    a few hundred pairs are enough; languages whose spaces differ by more than a rotation need more than this.
    """

    name = "procrustes"
    paper = "Schönemann (1966); for word translation Xing, Wang, Liu and Lin (2015), Artetxe, Labaka and Agirre (2016)"

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """W = U Vᵀ of the singular value decomposition of Xᵀ Z over the pairs."""
        return LinearMapping(source_matrix=procrustes(x[pairs[:, 0]], z[pairs[:, 1]]))
