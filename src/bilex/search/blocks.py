"""Scores in blocks: of all queries with all keys, under a memory budget, on any device.

Every score in this package is a cosine plus a term of the candidate alone, s(q, j) = q · k_j + b_j, so that nearest
neighbours, CSLS and the inverted softmax are the same search with another b. Nothing here ever builds the n x m matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    Progress = Callable[[int, int], None]
    """Called with the rows done and the rows in all."""
    Blocks = tuple[Tensor, Iterator[tuple[int, Tensor]]]
    """Some queries, and their scores with all keys: the place of the first key, and (rows, width)."""

BUDGET = 512 * 2**20
"""Working memory of one search in bytes, unless told otherwise; its inputs and its result come on top."""

# Measured fastest: a block of scores of 20 MB just stays in a large cache, and its rows are no power of two apart, so
# that they do not compete for the same places there.
MOST_ROWS = 2500
KEY_BLOCK = 2080
ROUNDING = 1e-5
"""More than two computations of a product of unit rows can differ by."""


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
    """Blocks of queries and, for each, the blocks of scores (start, (rows, width)) that together cover all keys.

    The scores live in one buffer that the next block overwrites. The keys are moved to the queries' device block by
    block, so that they may be larger than its memory. The bias rides along as one more dimension, which costs less
    than adding it to every score. With `dtype`, rows and keys are rounded to that. Rows of whole numbers of 8 bits have
    scores of 32. Blocks of q · kᵀ, `matrix` (q, m), where it is known, are not computed again.
    """
    whole = queries.dtype == torch.int8
    multiply = torch._int_mm if whole else torch.mm
    kind = dtype or queries.dtype
    width = min(width, max(1, len(keys)))
    # The scores themselves, and at most three times as much for picking the candidates of a block.
    most = max(1, min(MOST_ROWS, budget // (4 * width * max(4, queries.element_size()))))
    blocks_of_rows = max(1, -(-len(queries) // most))
    height = max(1, -(-len(queries) // blocks_of_rows))  # all of one size: a small last block is slow
    buffer = queries.new_empty(height * width, dtype=torch.int32 if whole else kind)

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
        longer = rows if bias is None or matrix is not None else torch.cat([rows, rows.new_ones(len(rows), 1)], 1)
        yield rows, blocks(first, longer.to(kind))


def logsumexp(
    queries: Tensor, keys: Tensor, *, scale: float, budget: int = BUDGET, progress: Progress | None = None
) -> Tensor:
    """Log Σ_j exp(scale q · k_j) per query: (q,)."""
    sums: list[Tensor] = []
    for rows, blocks in score_blocks(queries, keys, width=KEY_BLOCK, budget=budget):
        total = rows.new_full((len(rows),), -torch.inf)
        for _, scores in blocks:
            total = torch.logaddexp(total, scores.mul_(scale).logsumexp(1))
        sums.append(total)
        if progress:
            progress(sum(map(len, sums)), len(queries))
    return torch.cat(sums) if sums else queries.new_empty(0)
