"""The best candidates that chance lets a word look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.bfloat16 import Sixteen
from bilex.search.blocks import KEY_BLOCK, score_blocks
from bilex.search.lists import TopK, joined, merge, nothing
from bilex.search.topk import scored

if TYPE_CHECKING:
    from torch import Generator, Tensor

LOW = 1e9
"""More than any score."""


def best_of_some(
    queries: Tensor,
    keys: Tensor,
    keep: float,
    *,
    bias: Tensor | None = None,
    generator: Generator,
    matrix: Tensor | None = None,
) -> TopK:
    """The best-scored key of each query, (q, 1), of those that a coin lets it look at; q · k + bias.

    matrix: q · kᵀ where it is known. Large searches list the best by rounded rows (see `sixteen`), of which the best in
    full is taken; that nobody else is better is not proven, as it is by chance who is looked at.
    """
    rounds = matrix is None and Sixteen.pays(queries, keys, 1)
    dtype, n = (Sixteen.dtype, Sixteen.longer(1)) if rounds else (queries.dtype, 1)
    found = [nothing(0, 1, queries)]
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=KEY_BLOCK, dtype=dtype, matrix=matrix):
        listed = nothing(len(rows), n, queries, dtype)
        for start, scores in blocks:
            _drop_(scores, 1 - keep, generator)
            merge(listed, start, scores)
        if rounds:
            listed.values[listed.values < -LOW / 2] = -torch.inf  # lest they are scored again, as if looked at
            listed = scored(listed, rows, keys, 1, bias)
        found.append(listed)
    return joined(found)


def _drop_(scores: Tensor, share: float, generator: Generator) -> None:
    """Make scores so low that they do not count, each with a probability, to 1 / 65536.

    Coins of 16 bits are drawn four at a time, and what a coin is short of is taken off, which is faster than a mask.
    """
    count = scores.numel()
    drawn = torch.randint(-(2**63), 2**63 - 1, (-(-count // 4),), generator=generator)
    coins = drawn.view(torch.int16)[:count].view(scores.shape).to(scores.device)
    short = coins.to(torch.float32).sub_(round(share * 2**16) - 2**15).clamp_max_(0)
    scores.add_(short.to(scores.dtype), alpha=LOW)
