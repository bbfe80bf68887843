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

    Minimizes ‖XW − Z‖ over the train pairs with WᵀW = I. A rotation preserves all distances within the source
    language, so a few hundred pairs are enough. Fewer independent pairs than dimensions determine W only on a subspace.
    Words are then compared in that subspace, since the rest would be noise.
    """

    name = "procrustes"
    paper = "Schönemann (1966); for word translation Xing, Wang, Liu and Lin (2015), Artetxe, Labaka and Agirre (2016)"
    closed_form = True

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """W = U Vᵀ of the singular value decomposition of Xᵀ Z over the pairs."""
        u, v = procrustes_bases(x[pairs[:, 0]], z[pairs[:, 1]], determined=True)
        if not u.shape[1]:
            raise AlignmentError(
                f"{self.name}: the train pairs ({len(pairs):,}) have no direction in common: after normalization "
                f"({','.join(self.normalize)}) their vectors are zero; use larger tables or more pairs, or do not "
                "center: normalize=unit"
            )
        if u.shape[1] == x.shape[1]:
            return LinearMapping(source_matrix=u @ v.T)
        return LinearMapping(source_matrix=u.contiguous(), target_matrix=v.contiguous())
