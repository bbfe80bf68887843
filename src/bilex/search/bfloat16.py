"""Products of rows in 16 bits (bfloat16): 8 digits of each number, and of the product itself."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import KEY_BLOCK, score_blocks
from bilex.search.rounding import FLUSHED, SUMMING, large, processor_has

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from bilex.search.blocks import Blocks

HALF_STEP = 2.0**-8
"""By at most this share a number is off when it is rounded."""
AT_ONCE = 1024
"""Rows that are rounded at a time, so that they stay in the cache."""


class Sixteen:
    """Queries (q, d) and keys (m, d) with a bias (m,), rounded when they are multiplied."""

    dtype = torch.bfloat16
    key_block = KEY_BLOCK

    def __init__(self, queries: Tensor, keys: Tensor, bias: Tensor | None = None) -> None:
        self.queries, self.keys, self.bias = queries, keys, bias
        self.length, self.error = (found.amax() for found in _rounding(keys))
        self.summing, self.bias_error = SUMMING * (keys.shape[1] + 1), 0 * self.error
        if bias is not None:
            bias = bias.to(keys)
            self.bias_error = (bias - bias.to(self.dtype)).abs().amax() + self.summing * bias.abs().amax()

    @staticmethod
    def pays(queries: Tensor, keys: Tensor, n: int) -> bool:
        """Whether a search for the n best is faster so."""
        return n > 0 and Sixteen.longer(n) < len(keys) and large(queries, keys) and native()

    @staticmethod
    def longer(n: int) -> int:
        """How many rounded scores to list where the n best are wanted."""
        return n + 16 + n // 4

    @classmethod
    def of(cls, queries: Tensor, keys: Tensor, *, bias: Tensor | None, budget: int) -> Sixteen:  # noqa: ARG003
        """Both tables, which are rounded block by block."""
        return cls(queries, keys, bias)

    def blocks(self, first: int, count: int, *, width: int, budget: int) -> Iterator[Blocks]:
        """Rounded scores of some queries with all keys."""
        rows = self.queries[first : first + count]
        return score_blocks(rows, self.keys, bias=self.bias, width=width, budget=budget, dtype=self.dtype)

    def at_most(self, listed: Tensor, first: int) -> Tensor:
        """What a key has at most whose rounded score is at most the one listed: (q,)."""
        listed = listed.to(self.queries.dtype)
        return listed + HALF_STEP * listed.abs() + self._error(first, len(listed))

    def below(self, scores: Tensor, first: int) -> Tensor:
        """Rounded scores so low that no key that has at most them has these scores, or more: (q,)."""
        error = self._error(first, len(scores))
        return (scores - error - 3 * HALF_STEP * (scores.abs() + error)).to(self.dtype)  # twice, and a little

    def backward(self) -> Sixteen:
        """With queries and keys exchanged."""
        return Sixteen(self.keys, self.queries)

    def _error(self, first: int, count: int) -> Tensor:
        """By how much a score is off before it is rounded itself: (q,)."""
        length, error = _rounding(self.queries[first : first + count])
        error = error * (self.length + self.error) + length * self.error + self.summing * length * self.length
        return error + self.bias_error + FLUSHED * (1 + length + self.length)


@cache
def native() -> bool:
    """Whether the processor multiplies such numbers without unpacking them first."""
    return processor_has("avx512_bf16", "amx_bf16")


def _rounding(rows: Tensor) -> tuple[Tensor, Tensor]:
    """‖x‖ and ‖x − x̂‖ of every row."""
    errors, lost = rows.new_empty(len(rows)), rows.new_empty(AT_ONCE, rows.shape[1])
    for part, error in zip(torch.split(rows, AT_ONCE), torch.split(errors, AT_ONCE), strict=True):
        torch.linalg.vector_norm(torch.sub(part, part.to(Sixteen.dtype), out=lost[: len(part)]), dim=1, out=error)
    return torch.linalg.vector_norm(rows, dim=1), errors
