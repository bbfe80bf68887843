"""How well probabilities agree with what is right: reliability, and expected calibration error."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 10


class Bin(NamedTuple):
    """A part of a reliability diagram: mean probability and share of right ones among `size` predictions."""

    low: float
    high: float
    size: int
    probability: float
    right: float


def reliability(probabilities: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = BINS) -> list[Bin]:
    """The reliability diagram: predictions by probability, in bins of equal width; empty bins are left out.

    probabilities and right: (n,).
    """
    places = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    found = []
    for place in np.unique(places):
        inside = places == place
        means = float(probabilities[inside].mean()), float(right[inside].mean())
        found.append(Bin(place / bins, (place + 1) / bins, int(inside.sum()), *means))
    return found


def calibration_error(probabilities: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = BINS) -> float:
    """Expected calibration error: Σ_b n_b / n |mean probability − share of right ones|, over the bins b.

    Naeini, Cooper and Hauskrecht (2015). Obtaining well calibrated probabilities using Bayesian binning. AAAI.
    """
    parts = reliability(probabilities, right, bins=bins)
    return sum(part.size * abs(part.probability - part.right) for part in parts) / max(len(right), 1)
