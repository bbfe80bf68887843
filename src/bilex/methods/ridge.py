"""Least squares with a penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bilex.errors import SettingsError
from bilex.linalg.least_squares import evenly_spread, least_squares
from bilex.mapping import LinearMapping
from bilex.methods.base import Method
from bilex.settings.fields import Range, SearchSpace

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Ridge(Method):
    """Unconstrained linear map, by least squares with a penalty on its norm.

    Minimizes ‖XW − Z‖² + λ‖W‖² over the train pairs.  X, Z: (p, d); W: (d, d).  x → xW, z → z. With λ = 0 this is
    `least_squares`. λ is given as a number of pairs: λI is what this many source words, spread evenly over all
    directions, would add to XᵀX. So the penalty has much weight beside few pairs, and little beside many. A fixed λ
    that helps a dictionary of hundreds of words would be harmful with thousands.
    """

    name = "ridge"
    paper = (
        "Mikolov, Le and Sutskever (2013). Exploiting similarities among languages for machine translation; "
        "the penalty: Hoerl and Kennard (1970)"
    )
    closed_form = True

    search_space: ClassVar[SearchSpace] = {"penalty": Range(1.0, 10_000.0, log=True)}

    penalty: float = 100.0
    """The λ of the formula, as a number of pairs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.penalty < float("inf"):
            raise SettingsError(f"{self.name}: penalty={self.penalty}; needed a number above 0, or least_squares")

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """W = (XᵀX + λI)⁻¹ XᵀZ."""
        x, z = x[pairs[:, 0]], z[pairs[:, 1]]
        return LinearMapping(source_matrix=least_squares(x, z, evenly_spread(x, self.penalty)))
