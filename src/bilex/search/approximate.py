"""Near keys by rounded scores alone, for lists that are rescored anyway: not exact, and several times as fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.bfloat16 import Bfloat16
from bilex.search.blocks import score_blocks
from bilex.search.lists import largest_of_block
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

BUDGET = 128 * 2**20
"""Working memory in bytes, beside a copy of both tables in bfloat16; small blocks of scores stay in the cache."""


def near_keys(queries: Tensor, keys: Tensor, n: int, *, bias: Tensor | None = None) -> Tensor:
    """Indices of about the n largest of q · k + b per query, in any order: (q, n).  bias: (m,).

    Where bfloat16 is fast and the search is large, scores are rounded to it: near the n-th best, some keys are replaced
    by others with nearly the same score. Elsewhere the keys are those of `topk`.
    """
    if not Bfloat16.is_worthwhile(queries, keys, n):
        return topk(queries, keys, n, bias=bias).indices
    rounded = _with_column(queries, None if bias is None else queries.new_ones(len(queries))), _with_column(keys, bias)
    found = []
    for _, blocks in score_blocks(*rounded, width=len(keys), budget=BUDGET):
        found += [largest_of_block(scores, n).indices for _, scores in blocks]
    return torch.cat(found)


def _with_column(rows: Tensor, column: Tensor | None) -> Tensor:
    """The rows in bfloat16, with a bias or its factor as one more dimension."""
    if column is None:
        return rows.bfloat16()
    rounded = rows.new_empty((len(rows), rows.shape[1] + 1), dtype=torch.bfloat16)
    rounded[:, :-1], rounded[:, -1] = rows, column
    return rounded
