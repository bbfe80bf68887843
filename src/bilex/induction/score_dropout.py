"""Best candidates when most scores are dropped at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.bfloat16 import Bfloat16
from bilex.search.blocks import KEY_BLOCK, score_blocks
from bilex.search.lists import TopK, concatenate, empty_lists, merge
from bilex.search.shortlist import rescore

if TYPE_CHECKING:
    from torch import Generator, Tensor

DROPPED = 1e9
"""Subtracted from dropped scores; more than any score."""


def best_with_dropout(
    queries: Tensor,
    keys: Tensor,
    keep_probability: float,
    *,
    bias: Tensor | None = None,
    generator: Generator,
    matrix: Tensor | None = None,
) -> TopK:
    """argmax_k q · k + b per query over the scores that are kept, each with a probability: (q, 1).

    queries: (q, d), keys: (m, d), bias: (m,); matrix: q · kᵀ (q, m), if it is known.

    Large searches rescore a shortlist in bfloat16. It is not proven that no other key is better: dropout is random
    anyway.
    """
    low_precision = matrix is None and Bfloat16.is_worthwhile(queries, keys, 1)
    dtype, size = (Bfloat16.dtype, Bfloat16.shortlist_size(1)) if low_precision else (queries.dtype, 1)
    parts = [empty_lists(0, 1, queries)]
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=KEY_BLOCK, dtype=dtype, matrix=matrix):
        lists = empty_lists(len(rows), size, queries, dtype)
        for start, scores in blocks:
            _drop_(scores, 1 - keep_probability, generator)
            merge(lists, start, scores)
        if low_precision:
            lists.values[lists.values < -DROPPED / 2] = -torch.inf  # else they would be rescored as if kept
            lists = rescore(lists, rows, keys, 1, bias)
        parts.append(lists)
    return concatenate(parts)


def _drop_(scores: Tensor, probability: float, generator: Generator) -> None:
    """Drop scores (q, w) in place, each with a probability, to 1 / 65536.

    Four random numbers of 16 bits are drawn at a time. What a number is below the threshold of the probability is
    subtracted, times `DROPPED`, which is faster than a mask.
    """
    count = scores.numel()
    drawn = torch.randint(-(2**63), 2**63 - 1, (-(-count // 4),), generator=generator)
    numbers = drawn.view(torch.int16)[:count].view(scores.shape).to(scores.device)
    below = numbers.to(torch.float32).sub_(round(probability * 2**16) - 2**15).clamp_max_(0)
    scores.add_(below.to(scores.dtype), alpha=DROPPED)
