"""Low precision in whole numbers of 8 bits.

    X R ≈ s X̂,    X̂ whole numbers with |x̂| ≤ 127,    q · k ≈ s_q s_k (q̂ · k̂)

One scale s serves a whole table. R is a random rotation, the same for both tables: it changes no product, and it makes
the largest number of a table hardly larger than the others. Products of whole numbers are exact, so that only the
rounding of the rows has to be bounded.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.search.bfloat16 import Bfloat16
from bilex.search.blocks import KEY_BLOCK, score_blocks
from bilex.search.low_precision import SUMMATION_ERROR, UNDERFLOW, is_large_search, processor_has
from bilex.search.speedup import gains

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.search.blocks import Blocks

MAX_INT8 = 127
MIN_ROWS = 4000
"""Of either table; to round fewer takes as long as it saves."""
MIN_KEYS_PER_ENTRY = 1000
"""Of the shortlist; with fewer keys, lists take longer than the products."""
MIN_SCALE = 1e-15
"""The product of smaller numbers cannot be told from 0."""
MAX_BIAS_COLUMNS = 16
"""A bias that needs more dimensions than these is too large."""
DIM_MULTIPLE = 8
"""Dimensions are padded to a multiple of this."""
BLOCK_ROWS = 2048
"""Rows that are rounded at a time."""


class Int8:
    """Queries (q, d) and keys (m, d) in whole numbers:  score ≈ scale · rounded score + shift."""

    dtype = torch.int32
    key_block = 4 * KEY_BLOCK  # the faster the products, the more it costs to begin another block of them

    def __init__(
        self, queries: QuantizedTable, keys: QuantizedTable, *, shift: float = 0.0, bias_error: float = 0.0
    ) -> None:
        self.queries, self.keys, self.shift, self.bias_error = queries, keys, shift, bias_error
        self.scale = queries.scale * keys.scale
        self.max_length, self.max_error = keys.length.amax(), keys.error.amax()

    @staticmethod
    def is_native() -> bool:
        """Whether the processor has instructions for it, and their results are right."""
        return is_native()

    @staticmethod
    def is_worthwhile(queries: Tensor, keys: Tensor, n: int) -> bool:
        """Whether a search for the n best is faster in this precision."""
        min_keys = max(MIN_ROWS, MIN_KEYS_PER_ENTRY * Int8.shortlist_size(n))
        enough_rows = n > 0 and len(queries) >= MIN_ROWS and len(keys) >= min_keys
        return enough_rows and is_large_search(queries, keys) and gains(Int8, Bfloat16)

    @staticmethod
    def shortlist_size(n: int) -> int:
        """Rounded scores to list if the n best are wanted."""
        return 3 * n + 20

    @classmethod
    def of(cls, queries: Tensor, keys: Tensor, *, bias: Tensor | None, budget: int) -> Int8 | None:
        """Both tables in whole numbers; None if they take too much memory, or no scale suits the numbers."""
        if (len(queries) + len(keys)) * (queries.shape[1] + MAX_BIAS_COLUMNS + DIM_MULTIPLE) > budget // 2:
            return None
        scales = [_scale(rows) for rows in (queries, keys)]
        if not all(MIN_SCALE < scale < 1 / MIN_SCALE for scale in scales):
            return None
        quantized_bias = _bias_columns(bias, scales[0] * scales[1], len(keys))
        if quantized_bias is None:
            return None
        columns, shift, bias_error = quantized_bias
        factors = columns.new_full((1, columns.shape[1]), MAX_INT8)
        factors[:, -1:] = 1
        tables = _quantize(queries, scales[0], factors.expand(len(queries), -1)), _quantize(keys, scales[1], columns)
        return cls(*tables, shift=shift, bias_error=bias_error)

    def blocks(self, first: int, count: int, *, width: int, budget: int) -> Iterator[Blocks]:
        """Rounded scores of some queries with all keys; the other half of the budget is for the tables."""
        rows = self.queries.rows[first : first + count]
        return score_blocks(rows, self.keys.rows, width=width, budget=budget // 2)

    def upper_bound(self, rounded: Tensor, first: int) -> Tensor:
        """Bound u (q,): a rounded score <= `rounded` implies a full score <= u."""
        return rounded * self.scale + self.shift + self._error(first, len(rounded))

    def threshold(self, scores: Tensor, first: int) -> Tensor:
        """Threshold t (q,): a rounded score <= t implies a full score < `scores`."""
        low = (scores - self.shift - self._error(first, len(scores))) / self.scale
        return low.nan_to_num(0).clamp(-(2**30), 2**30).floor().to(self.dtype) - 1

    def swapped(self) -> Int8:
        """With queries and keys exchanged."""
        return Int8(self.keys, self.queries)

    def _error(self, first: int, count: int) -> Tensor:
        """Bound of the error of a score, (q,): by rounding, by the rotation, and by the sum in float32."""
        d = self.keys.rows.shape[1]
        length, error = (of_row[first : first + count] for of_row in (self.queries.length, self.queries.error))
        error = error * (self.max_length + self.max_error) + length * self.max_error
        error = error + SUMMATION_ERROR * (d + 2) * (math.sqrt(d) + 1) * length * self.max_length
        return error + self.bias_error + UNDERFLOW * (1 + length + self.max_length)


class QuantizedTable(NamedTuple):
    """A table in whole numbers and its scale; ‖x‖ and ‖x R − s x̂‖ of every row: (n,) each."""

    rows: Tensor
    scale: float
    length: Tensor
    error: Tensor


@cache
def is_native() -> bool:
    """Whether the processor multiplies 8-bit numbers and sums the products in 32 bits without overflow.

    The function of torch that does so is not a public one, so its result is checked.
    """
    if not (hasattr(torch, "_int_mm") and processor_has("avx512_vnni", "amx_int8")):
        return False
    rows = torch.full((40, 320), MAX_INT8, dtype=torch.int8)
    rows[1::2] = -MAX_INT8
    rows[::3, ::2] = 1
    try:
        products = torch._int_mm(rows, rows.T)
    except RuntimeError:
        return False
    return torch.equal(products.long(), rows.long() @ rows.long().T)


@cache
def _rotation(d: int) -> Tensor:
    """R (d, d), the same in every call."""
    gaussian = torch.randn(d, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rotation: Tensor = torch.linalg.qr(gaussian).Q
    return rotation.float()


def _scale(rows: Tensor) -> float:
    """Scale s = max |X R| / 127; numbers that are NaN do not count."""
    parts = torch.split(rows, BLOCK_ROWS)
    maxima = [(part @ _rotation(rows.shape[1])).nan_to_num_(0).abs().amax() for part in parts]
    return float(torch.stack(maxima).amax()) / MAX_INT8


def _quantize(rows: Tensor, scale: float, columns: Tensor) -> QuantizedTable:
    """The rows (n, d) in whole numbers, with more columns (n, c) of these."""
    n, d = rows.shape
    quantized = torch.zeros(n, -(-(d + columns.shape[1]) // DIM_MULTIPLE) * DIM_MULTIPLE, dtype=torch.int8)
    quantized[:, d : d + columns.shape[1]] = columns
    errors = []
    for part, place in zip(torch.split(rows, BLOCK_ROWS), torch.split(quantized[:, :d], BLOCK_ROWS), strict=True):
        rotated = part @ _rotation(d)
        nearest = (rotated / scale).round_().clamp_(-MAX_INT8, MAX_INT8)
        place.copy_(nearest.nan_to_num(0))
        errors.append(torch.linalg.vector_norm(rotated.sub_(nearest, alpha=scale), dim=1))
    return QuantizedTable(quantized, scale, torch.linalg.vector_norm(rows, dim=1), torch.cat(errors))


def _bias_columns(bias: Tensor | None, scale: float, m: int) -> tuple[Tensor, float, float] | None:
    """A bias (m,) as columns of whole numbers (m, c), the shift of all scores, and the error of the bias.

    b ≈ shift + scale (127 c_1 + ... + 127 c_n + c_last); the queries have these factors. None if that is too many.
    """
    if bias is None:
        return torch.empty(m, 0, dtype=torch.int8), 0.0, 0.0
    bias = bias.double()
    shift = float(bias.amax() + bias.amin()) / 2
    units = ((bias - shift) / scale).round()
    coarse = (units / MAX_INT8).round()
    count = float(coarse.abs().amax()) / MAX_INT8
    if not count <= MAX_BIAS_COLUMNS - 1:  # also if it is NaN
        return None
    columns = [(coarse - coarse.sign() * i * MAX_INT8).clamp(-MAX_INT8, MAX_INT8) for i in range(math.ceil(count))]
    columns = [torch.where(column.sign() == coarse.sign(), column, 0) for column in columns]
    error = float((bias - shift - scale * units).abs().amax()) + 4 * SUMMATION_ERROR * float(bias.abs().amax())
    return torch.stack([*columns, units - MAX_INT8 * coarse], 1).to(torch.int8), shift, error
