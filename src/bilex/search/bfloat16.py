"""Low precision in 16 bits (bfloat16): 8 significant binary digits of each number, and of the product itself."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import KEY_BLOCK, score_blocks
from bilex.search.low_precision import SUMMATION_ERROR, UNDERFLOW, is_large_search, processor_has
from bilex.search.speedup import gains

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from bilex.search.blocks import Blocks

UNIT_ROUNDOFF = 2.0**-8
"""Rounding changes a number by at most this share of it."""
BLOCK_ROWS = 1024
"""Rows that are rounded at a time, so that they stay in the cache."""


class Bfloat16:
    """Queries (q, d) and keys (m, d) with a bias (m,), rounded when they are multiplied."""

    dtype = torch.bfloat16
    key_block = KEY_BLOCK

    def __init__(self, queries: Tensor, keys: Tensor, bias: Tensor | None = None) -> None:
        self.queries, self.keys, self.bias = queries, keys, bias
        self.max_length, self.max_error = (values.amax() for values in _lengths_and_errors(keys))
        self.summation_error, self.bias_error = SUMMATION_ERROR * (keys.shape[1] + 1), 0 * self.max_error
        if bias is not None:
            bias = bias.to(keys)
            self.bias_error = (bias - bias.to(self.dtype)).abs().amax() + self.summation_error * bias.abs().amax()

    @staticmethod
    def is_native() -> bool:
        """Whether the processor has instructions for it, and their results are right."""
        return is_native()

    @staticmethod
    def is_worthwhile(queries: Tensor, keys: Tensor, n: int) -> bool:
        """Whether a search for the n best is faster in this precision."""
        enough_keys = n > 0 and Bfloat16.shortlist_size(n) < len(keys)
        return enough_keys and is_large_search(queries, keys) and gains(Bfloat16)

    @staticmethod
    def shortlist_size(n: int) -> int:
        """Rounded scores to list if the n best are wanted."""
        return n + 16 + n // 4

    @classmethod
    def of(cls, queries: Tensor, keys: Tensor, *, bias: Tensor | None, budget: int) -> Bfloat16:  # noqa: ARG003
        """Both tables; they are rounded block by block."""
        return cls(queries, keys, bias)

    def blocks(self, first: int, count: int, *, width: int, budget: int) -> Iterator[Blocks]:
        """Rounded scores of some queries with all keys."""
        rows = self.queries[first : first + count]
        return score_blocks(rows, self.keys, bias=self.bias, width=width, budget=budget, dtype=self.dtype)

    def upper_bound(self, rounded: Tensor, first: int) -> Tensor:
        """Bound u (q,): a rounded score <= `rounded` implies a full score <= u."""
        rounded = rounded.to(self.queries.dtype)
        return rounded + UNIT_ROUNDOFF * rounded.abs() + self._error(first, len(rounded))

    def threshold(self, scores: Tensor, first: int) -> Tensor:
        """Threshold t (q,): a rounded score <= t implies a full score < `scores`."""
        error = self._error(first, len(scores))
        # Rounding happens twice, of the score and of t itself; the third step is to be safe.
        return (scores - error - 3 * UNIT_ROUNDOFF * (scores.abs() + error)).to(self.dtype)

    def swapped(self) -> Bfloat16:
        """With queries and keys exchanged."""
        return Bfloat16(self.keys, self.queries)

    def _error(self, first: int, count: int) -> Tensor:
        """Bound of the error of a score before it is rounded itself: (q,)."""
        length, error = _lengths_and_errors(self.queries[first : first + count])
        error = error * (self.max_length + self.max_error) + length * self.max_error
        error = error + self.summation_error * length * self.max_length
        return error + self.bias_error + UNDERFLOW * (1 + length + self.max_length)


@cache
def is_native() -> bool:
    """Whether the processor multiplies bfloat16 without unpacking it first."""
    return processor_has("avx512_bf16", "amx_bf16")


def _lengths_and_errors(rows: Tensor) -> tuple[Tensor, Tensor]:
    """‖x‖ and ‖x − x̂‖ of every row: (n,) each."""
    errors, buffer = rows.new_empty(len(rows)), rows.new_empty(BLOCK_ROWS, rows.shape[1])
    for part, error in zip(torch.split(rows, BLOCK_ROWS), torch.split(errors, BLOCK_ROWS), strict=True):
        difference = torch.sub(part, part.to(Bfloat16.dtype), out=buffer[: len(part)])
        torch.linalg.vector_norm(difference, dim=1, out=error)
    return torch.linalg.vector_norm(rows, dim=1), errors
