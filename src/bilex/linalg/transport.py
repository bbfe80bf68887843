"""Entropic optimal transport, by POT. Needs the extra `transport`."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import TYPE_CHECKING, Any

from bilex.errors import AlignmentError, MissingExtraError

if TYPE_CHECKING:
    from torch import Tensor

OTHER_BACKENDS = ("JAX", "CUPY", "TENSORFLOW")
MIN_LOG = -80.0
"""exp of anything smaller is 0 in float32, or nearly so."""


def carry(log_kernel: Tensor, *, tolerance: float, iterations: int) -> Tensor:
    """argmax_j P_ij of the plan P = diag(u) K diag(v) with uniform marginals: (n,).  log K: (n, m).

    P has row sums 1/n and column sums 1/m. Sinkhorn's algorithm ends when the column sums are within `tolerance`
    (Euclidean norm, checked every ten iterations), or after `iterations`.
    """
    ot = import_ot("transport between words")
    uniform = [log_kernel.new_full((size,), 1 / size) for size in log_kernel.shape]
    cost = (-log_kernel).clamp_max_(-MIN_LOG)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            plan: Tensor = ot.sinkhorn(*uniform, cost, 1.0, numItermax=iterations, stopThr=tolerance, warn=False)
        except UserWarning as warning:
            raise AlignmentError(
                f"transport between words failed ({warning}): numbers too small for their precision; "
                "set a higher temperature"
            ) from None
    return plan.argmax(1)


def import_ot(purpose: str) -> Any:
    """The module of POT, without the frameworks that it would import if they are installed."""
    switches = [f"POT_BACKEND_DISABLE_{name}" for name in OTHER_BACKENDS]
    before = {switch: os.environ.get(switch) for switch in switches}
    os.environ |= dict.fromkeys(switches, "1")
    try:
        return importlib.import_module("ot")
    except ImportError:
        raise MissingExtraError("POT", "transport", purpose) from None
    finally:
        for switch, value in before.items():
            if value is None:
                del os.environ[switch]
            else:
                os.environ[switch] = value
