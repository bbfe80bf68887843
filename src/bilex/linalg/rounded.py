"""Products of rounded rows: how far they can be off, and where they are worth it.

Some processors multiply numbers of 16 bits (bfloat16) more than twice as fast as those of 32. Their 8 digits are too
few for a score, but enough to rule out nearly all candidates, as it is known how wrong they can be: rows q and k that
are rounded to q̂ and k̂ have a product with

    |q · k − q̂ · k̂| ≤ ‖q − q̂‖ ‖k̂‖ + ‖q‖ ‖k − k̂‖

and that product is itself rounded once more.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

ROUND = torch.bfloat16
HALF_STEP = 2.0**-8
"""By at most this share a number is off when it is rounded."""
SUMMING = 2.0**-23
"""By at most this share of the lengths of both rows, for each dimension, a sum of products in float32 is off."""
FLUSHED = 1e-34
"""More than all that is lost where numbers too small to be told from 0 are taken for 0, for each unit of length."""
NATIVE = ("avx512_bf16", "amx_bf16")
LEAST_SCORES, LEAST_KEYS, LEAST_DIM = 20_000_000, 2000, 32
"""In smaller searches the products are not what takes the time."""
AT_ONCE = 1024
"""Rows that are rounded at a time, so that they stay in the cache."""


def pays(queries: Tensor, keys: Tensor, n: int) -> bool:
    """Whether a search for the n best is faster with rounded rows."""
    on_cpu = all(rows.device.type == "cpu" and rows.dtype == torch.float32 for rows in (queries, keys))
    large = len(queries) * len(keys) >= LEAST_SCORES and len(keys) >= LEAST_KEYS and keys.shape[1] >= LEAST_DIM
    return on_cpu and large and n > 0 and longer(n) < len(keys) and native()


@cache
def native() -> bool:
    """Whether the processor multiplies rounded numbers without unpacking them first."""
    told: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older releases do not tell
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and any(told.get(name) for name in NATIVE)


def longer(n: int) -> int:
    """How many rounded scores to list where the n best are wanted, so that few lists leave open who these are."""
    return n + 16 + n // 4


class Bound:
    """What a score q · k + b can be at most, by what came out of rounded rows.  keys: (m, d), bias: (m,)."""

    def __init__(self, keys: Tensor, bias: Tensor | None = None) -> None:
        self.length, self.error = (found.amax() for found in _rounding(keys))
        self.summing, self.bias_error = SUMMING * (keys.shape[1] + 1), 0 * self.error
        if bias is not None:
            bias = bias.to(keys)
            self.bias_error = (bias - bias.to(ROUND)).abs().amax() + self.summing * bias.abs().amax()

    def __call__(self, listed: Tensor, queries: Tensor) -> Tensor:
        """Of any key whose rounded score is at most the one listed.  listed: (q,), queries: (q, d); result: (q,)."""
        listed = listed.to(queries.dtype)
        return listed + HALF_STEP * listed.abs() + self._error(queries)

    def below(self, scores: Tensor, queries: Tensor) -> Tensor:
        """Rounded scores so low that no key that has at most them has these scores, or more.  All: (q,)."""
        error = self._error(queries)
        return (scores - error - 3 * HALF_STEP * (scores.abs() + error)).to(ROUND)  # twice, and a little

    def _error(self, queries: Tensor) -> Tensor:
        """By how much a score is off before it is rounded itself: (q,)."""
        length, error = _rounding(queries)
        error = error * (self.length + self.error) + length * self.error + self.summing * length * self.length
        return error + self.bias_error + FLUSHED * (1 + length + self.length)


def _rounding(rows: Tensor) -> tuple[Tensor, Tensor]:
    """‖x‖ and ‖x − x̂‖ of every row."""
    errors, lost = rows.new_empty(len(rows)), rows.new_empty(AT_ONCE, rows.shape[1])
    for part, error in zip(torch.split(rows, AT_ONCE), torch.split(errors, AT_ONCE), strict=True):
        torch.linalg.vector_norm(torch.sub(part, part.to(ROUND), out=lost[: len(part)]), dim=1, out=error)
    return torch.linalg.vector_norm(rows, dim=1), errors
