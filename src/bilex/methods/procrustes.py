"""Orthogonal Procrustes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilex.errors import AlignmentError
from bilex.linalg.procrustes import procrustes_bases
from bilex.mapping import LinearMapping
from bilex.methods.base import Method

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Procrustes(Method):
    """Orthogonal map in closed form.

    Minimizes ‖XW − Z‖ over the train pairs with WᵀW = I. A rotation keeps all distances within the source language,
    so a few hundred pairs are enough. With fewer independent pairs than dimensions they determine W on a subspace only,
    and words are compared in that subspace: what lies outside it would be noise.
    """

    name = "procrustes"
    paper = "Schönemann (1966); for word translation Xing, Wang, Liu and Lin (2015), Artetxe, Labaka and Agirre (2016)"
    closed_form = True

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """W = U Vᵀ of the singular value decomposition of Xᵀ Z over the pairs."""
        u, v = procrustes_bases(x[pairs[:, 0]], z[pairs[:, 1]], determined=True)
        if not u.shape[1]:
            raise AlignmentError(
                f"{self.name}: the train pairs ({len(pairs):,}) have no direction in common, for their vectors are "
                f"zero once they are normalized ({','.join(self.normalize)}); use larger tables or more pairs, or "
                "leave the centring out: normalize=unit"
            )
        if u.shape[1] == x.shape[1]:
            return LinearMapping(source_matrix=u @ v.T)
        return LinearMapping(source_matrix=u.contiguous(), target_matrix=v.contiguous())
