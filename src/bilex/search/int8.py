"""Products of rows in whole numbers of 8 bits.

All numbers of a table are multiples of one step, x R ≈ s x̂ with |x̂| ≤ 127. R is a random rotation, the same for both
tables, which leaves all products as they are and makes the largest number of a table hardly larger than the others. The
products of whole numbers are exact, q · k ≈ s_q s_k (q̂ · k̂), and only the rounding of the rows is to be bounded.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.search.blocks import KEY_BLOCK, score_blocks
from bilex.search.rounding import FLUSHED, SUMMING, large, processor_has

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.search.blocks import Blocks

MOST = 127
LEAST_ROWS = 4000
"""Of either table; to round fewer takes as long as they save."""
KEYS_A_PLACE = 1000
"""For each place of a list; in fewer keys, lists take longer than the products."""
LEAST_STEP = 1e-15
"""Smaller numbers, multiplied, are not told from 0."""
BIAS_COLUMNS = 16
"""A bias that needs more dimensions than these is too large."""
EVEN = 8
"""Dimensions are made a multiple of this."""
AT_ONCE = 2048
"""Rows that are rounded at a time."""


class Eight:
    """Queries and keys in whole numbers; their scores are those of the rows, less `shift`, in units of both steps."""

    dtype = torch.int32
    key_block = 4 * KEY_BLOCK  # the faster the products, the more it costs to put away a block of them

    def __init__(self, queries: Whole, keys: Whole, *, shift: float = 0.0, bias_error: float = 0.0) -> None:
        self.queries, self.keys, self.shift, self.bias_error = queries, keys, shift, bias_error
        self.unit = queries.step * keys.step
        self.longest, self.most = keys.length.amax(), keys.error.amax()

    @staticmethod
    def pays(queries: Tensor, keys: Tensor, n: int) -> bool:
        """Whether a search for the n best is faster so."""
        least = max(LEAST_ROWS, KEYS_A_PLACE * Eight.longer(n))
        return n > 0 and len(queries) >= LEAST_ROWS and len(keys) >= least and large(queries, keys) and native()

    @staticmethod
    def longer(n: int) -> int:
        """How many rounded scores to list where the n best are wanted."""
        return 3 * n + 20

    @classmethod
    def of(cls, queries: Tensor, keys: Tensor, *, bias: Tensor | None, budget: int) -> Eight | None:
        """Both tables in whole numbers, or None: if they take too much memory, or have no steps that suit the bias."""
        if (len(queries) + len(keys)) * (queries.shape[1] + BIAS_COLUMNS + EVEN) > budget // 2:
            return None
        steps = [_step(rows) for rows in (queries, keys)]
        if not all(LEAST_STEP < step < 1 / LEAST_STEP for step in steps):
            return None
        made = _columns(bias, steps[0] * steps[1], len(keys))
        if made is None:
            return None
        columns, shift, bias_error = made
        factors = columns.new_full((1, columns.shape[1]), MOST)
        factors[:, -1:] = 1
        rounded = _whole(queries, steps[0], factors.expand(len(queries), -1)), _whole(keys, steps[1], columns)
        return cls(*rounded, shift=shift, bias_error=bias_error)

    def blocks(self, first: int, count: int, *, width: int, budget: int) -> Iterator[Blocks]:
        """Rounded scores of some queries with all keys; the other half of the budget is for the tables."""
        rows = self.queries.rows[first : first + count]
        return score_blocks(rows, self.keys.rows, width=width, budget=budget // 2)

    def at_most(self, listed: Tensor, first: int) -> Tensor:
        """What a key has at most whose rounded score is at most the one listed: (q,)."""
        return listed * self.unit + self.shift + self._error(first, len(listed))

    def below(self, scores: Tensor, first: int) -> Tensor:
        """Rounded scores so low that no key that has at most them has these scores, or more: (q,)."""
        low = (scores - self.shift - self._error(first, len(scores))) / self.unit
        return low.nan_to_num(0).clamp(-(2**30), 2**30).floor().to(self.dtype) - 1

    def backward(self) -> Eight:
        """With queries and keys exchanged."""
        return Eight(self.keys, self.queries)

    def _error(self, first: int, count: int) -> Tensor:
        """By how much a score is off, by the rounding, by the rotation, and in full by its own sum: (q,)."""
        d = self.keys.rows.shape[1]
        length, error = (of_row[first : first + count] for of_row in (self.queries.length, self.queries.error))
        error = error * (self.longest + self.most) + length * self.most
        error = error + SUMMING * (d + 2) * (math.sqrt(d) + 1) * length * self.longest
        return error + self.bias_error + FLUSHED * (1 + length + self.longest)


class Whole(NamedTuple):
    """A table in whole numbers, its step, and of each row its length and that of what the whole numbers lack."""

    rows: Tensor
    step: float
    length: Tensor
    error: Tensor


@cache
def native() -> bool:
    """Whether the processor multiplies such numbers, and adds the products to sums of 32 bits without loss.

    The function of torch that does so is not a public one; so it is tried.
    """
    if not (hasattr(torch, "_int_mm") and processor_has("avx512_vnni", "amx_int8")):
        return False
    rows = torch.full((40, 320), MOST, dtype=torch.int8)
    rows[1::2] = -MOST
    rows[::3, ::2] = 1
    try:
        found = torch._int_mm(rows, rows.T)
    except RuntimeError:
        return False
    return torch.equal(found.long(), rows.long() @ rows.long().T)


@cache
def _rotation(d: int) -> Tensor:
    drawn = torch.randn(d, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rotation: Tensor = torch.linalg.qr(drawn).Q
    return rotation.float()


def _step(rows: Tensor) -> float:
    """By which no number of the rotated rows is more than `MOST`; rows that are no numbers do not count."""
    largest = [(part @ _rotation(rows.shape[1])).nan_to_num_(0).abs().amax() for part in torch.split(rows, AT_ONCE)]
    return float(torch.stack(largest).amax()) / MOST


def _whole(rows: Tensor, step: float, more: Tensor) -> Whole:
    """The rows in whole numbers, with more columns of them (n, c)."""
    n, d = rows.shape
    found = torch.zeros(n, -(-(d + more.shape[1]) // EVEN) * EVEN, dtype=torch.int8)
    found[:, d : d + more.shape[1]] = more
    errors = []
    for part, place in zip(torch.split(rows, AT_ONCE), torch.split(found[:, :d], AT_ONCE), strict=True):
        turned = part @ _rotation(d)
        near = (turned / step).round_().clamp_(-MOST, MOST)
        place.copy_(near.nan_to_num(0))
        errors.append(torch.linalg.vector_norm(turned.sub_(near, alpha=step), dim=1))
    return Whole(found, step, torch.linalg.vector_norm(rows, dim=1), torch.cat(errors))


def _columns(bias: Tensor | None, unit: float, m: int) -> tuple[Tensor, float, float] | None:
    """A bias (m,) as columns of whole numbers (m, c), what is to be added to all scores, and by how much it is off.

    b ≈ shift + unit (127 c_1 + ... + 127 c_n + c_last); the queries have these factors. None if it takes too many.
    """
    if bias is None:
        return torch.empty(m, 0, dtype=torch.int8), 0.0, 0.0
    bias = bias.double()
    shift = float(bias.amax() + bias.amin()) / 2
    units = ((bias - shift) / unit).round()
    coarse = (units / MOST).round()
    count = float(coarse.abs().amax()) / MOST
    if not count <= BIAS_COLUMNS - 1:  # also if it is no number
        return None
    columns = [(coarse - coarse.sign() * i * MOST).clamp(-MOST, MOST) for i in range(math.ceil(count))]
    columns = [torch.where(column.sign() == coarse.sign(), column, 0) for column in columns]
    error = float((bias - shift - unit * units).abs().amax()) + 4 * SUMMING * float(bias.abs().amax())
    return torch.stack([*columns, units - MOST * coarse], 1).to(torch.int8), shift, error
