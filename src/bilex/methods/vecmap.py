"""VecMap: the multi-step framework of linear maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch

from bilex.linalg.whitening import whitener
from bilex.mapping import LinearMapping
from bilex.methods.base import Method
from bilex.settings.fields import Choice, SearchSpace

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class VecMap(Method):
    """Whitening, rotation, re-weighting by cross-correlation, de-whitening: VecMap, supervised.

    x → x A U S^w (Uᵀ A⁻¹ U),  z → z B V S^w (Vᵀ B⁻¹ V),  with A = (XᵀX)^(−1/2), B = (ZᵀZ)^(−1/2) and
    U S Vᵀ = svd((X A)ᵀ (Z B)) over the train pairs X, Z: (p, d).

    By default w = 1/2 on both sides, after unit, center, unit: the authors' program recommends this. In the AAAI paper
    w = 1 on the target side only: `reweight=target` with `normalize=unit,center`. Without whitening and weights the
    result is that of Procrustes.
    """

    name = "vecmap"
    paper = "Artetxe, Labaka and Agirre (2018). Generalizing and improving bilingual word embedding mappings. AAAI"
    closed_form = True

    search_space: ClassVar[SearchSpace] = {
        "reweight": Choice(("both", "target", "none")),
        "normalize": Choice((("unit", "center", "unit"), ("unit", "center"), ("unit",))),
    }

    reweight: Literal["both", "target", "none"] = "both"
    """Where S re-weights the dimensions: √S on both sides, S on the target side, or nowhere."""

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """Closed form."""
        x, z = x[pairs[:, 0]], z[pairs[:, 1]]
        (a, a_inverse), (b, b_inverse) = whitener(x), whitener(z)
        u, s, vt = torch.linalg.svd((x @ a).T @ (z @ b))
        ones = torch.ones_like(s)
        left, right = {"both": (s.sqrt(), s.sqrt()), "target": (ones, s), "none": (ones, ones)}[self.reweight]
        return LinearMapping(
            source_matrix=(a @ u * left) @ (u.T @ a_inverse @ u),
            target_matrix=(b @ vt.T * right) @ (vt @ b_inverse @ vt.T),
        )
