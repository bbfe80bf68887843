"""Logistic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE = 1.0


def logistic_regression(
    inputs: NDArray[np.float64], right: NDArray[np.bool_], *, prior: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weights β that minimize the negative log-likelihood + λ ‖β − prior‖² / 2, without a penalty of the last one.

    inputs: (n, a), the last column is 1; prior: (a,), by default 0.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    signs = np.where(right, 1.0, -1.0)
    start = np.zeros(inputs.shape[1]) if prior is None else prior
    penalty = RIDGE * np.append(np.ones(len(start) - 1), 0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins, distance = signs * (inputs @ weights), weights - start
        gradient = -inputs.T @ (signs * expit(-margins)) + penalty * distance
        return float(np.logaddexp(0, -margins).sum() + penalty @ distance**2 / 2), gradient

    weights: NDArray[np.float64] = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return weights
