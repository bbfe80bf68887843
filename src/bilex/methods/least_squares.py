"""Least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilex.linalg.least_squares import least_squares
from bilex.mapping import LinearMapping
from bilex.methods.base import Method

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class LeastSquares(Method):
    """Any linear map, by least squares.

    Minimizes ‖XW − Z‖² over the train pairs.  X, Z: (p, d); W: (d, d).  x → xW, target words stay where they are.
    Procrustes is the same among rotations only; `ridge` has a penalty on W, which helps if pairs are few. With fewer
    independent pairs than dimensions many W fit exactly: that of the smallest norm is taken.

    The paper goes the same way by stochastic gradient descent, on vectors as they are; here they are normalized.
    """

    name = "least_squares"
    paper = "Mikolov, Le and Sutskever (2013). Exploiting similarities among languages for machine translation"
    closed_form = True

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """W = X⁺ Z, with the pseudoinverse of X."""
        return LinearMapping(source_matrix=least_squares(x[pairs[:, 0]], z[pairs[:, 1]]))
