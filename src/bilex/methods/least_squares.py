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
    """Unconstrained linear map, by least squares.

    Minimizes ‖XW − Z‖² over the train pairs.  X, Z: (p, d); W: (d, d).  x → xW, z → z. `procrustes` minimizes the
    same over orthogonal W only; `ridge` adds a penalty on W, which helps with few pairs. With fewer independent pairs
    than dimensions, many W fit exactly; the one with the smallest norm is returned.

    The paper minimizes this by stochastic gradient descent, on vectors that are not normalized; here they are.
    """

    name = "least_squares"
    paper = "Mikolov, Le and Sutskever (2013). Exploiting similarities among languages for machine translation"
    closed_form = True

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, **_: Any) -> LinearMapping:
        """W = X⁺ Z, with the pseudoinverse of X."""
        return LinearMapping(source_matrix=least_squares(x[pairs[:, 0]], z[pairs[:, 1]]))
