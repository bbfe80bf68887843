"""Scores in blocks:  s(q, j) = q · k_j + b_j  of all queries with all keys, under a memory budget, on any device.

Every score in this package is a product plus a term of the candidate alone. Nearest neighbours, CSLS and the inverted
softmax are therefore the same search with another b. The (q, m) matrix is never built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    Progress = Callable[[int, int], None]
    """Called with the number of rows done and of all rows."""
    Blocks = tuple[Tensor, Iterator[tuple[int, Tensor]]]
    """Some queries, and their scores with all keys: the index of the first key, and (rows, width)."""

BUDGET = 512 * 2**20
"""Default working memory of one search in bytes; its inputs and its result come on top."""

# Measured fastest: a block of scores of 20 MB just fits into a large cache, and its rows are no power of two apart, so
# that they do not compete for the same cache lines.
QUERY_BLOCK = 2500
KEY_BLOCK = 2080
ROUNDING_ERROR = 1e-5
"""Two computations of a product of unit rows in float32 differ by less than this."""


def score_blocks(
    queries: Tensor,
    keys: Tensor,
    *,
    bias: Tensor | None = None,
    width: int,
    budget: int = BUDGET,
    passes: int = 1,
    dtype: torch.dtype | None = None,
    matrix: Tensor | None = None,
) -> Iterator[Blocks]:
    """Blocks of queries and, for each, blocks of scores (start, (rows, width)) that together cover all keys.

    queries: (q, d), keys: (m, d), bias: (m,); matrix: q · kᵀ (q, m), if it is known already.

    All scores are written to one buffer: the next block overwrites the last one. Keys are moved to the device of the
    queries block by block, so they may be larger than its memory. The bias becomes one more dimension, which costs less
    than to add it to every score. With `dtype`, rows and keys are rounded to it. Rows in int8 have scores in int32.
    """
    is_int8 = queries.dtype == torch.int8
    multiply = torch._int_mm if is_int8 else torch.mm
    row_dtype = dtype or queries.dtype
    width = min(width, max(1, len(keys)))
    # Memory for the scores, and at most three times as much to gather the candidates of a block.
    max_height = max(1, min(QUERY_BLOCK, budget // (4 * width * max(4, queries.element_size()))))
    block_count = max(1, -(-len(queries) // max_height))
    height = max(1, -(-len(queries) // block_count))  # all of one size: a small last block is slow
    buffer = queries.new_empty(height * width, dtype=torch.int32 if is_int8 else row_dtype)

    def blocks(first: int, rows: Tensor) -> Iterator[tuple[int, Tensor]]:
        for start in list(range(0, len(keys), width)) * passes:
            columns = keys[start : start + width].to(rows.device)
            scores = buffer[: len(rows) * len(columns)].view(len(rows), len(columns))
            if matrix is not None:
                scores.copy_(matrix[first : first + len(rows), start : start + width])
                yield start, scores if bias is None else scores.add_(bias[start : start + width].to(scores))
                continue
            if bias is not None:
                columns = torch.cat([columns, bias[start : start + width, None].to(columns)], 1)
            yield start, multiply(rows, (columns if dtype is None else columns.to(dtype)).T, out=scores)

    for first in range(0, len(queries), height):
        rows = queries[first : first + height]
        extended = rows if bias is None or matrix is not None else torch.cat([rows, rows.new_ones(len(rows), 1)], 1)
        yield rows, blocks(first, extended.to(row_dtype))


def logsumexp(
    queries: Tensor, keys: Tensor, *, scale: float, budget: int = BUDGET, progress: Progress | None = None
) -> Tensor:
    """Log Σ_j exp(scale q · k_j) per query: (q,).  queries: (q, d), keys: (m, d)."""
    sums: list[Tensor] = []
    for rows, blocks in score_blocks(queries, keys, width=KEY_BLOCK, budget=budget):
        total = rows.new_full((len(rows),), -torch.inf)
        for _, scores in blocks:
            total = torch.logaddexp(total, scores.mul_(scale).logsumexp(1))
        sums.append(total)
        if progress:
            progress(sum(map(len, sums)), len(queries))
    return torch.cat(sums) if sums else queries.new_empty(0)
