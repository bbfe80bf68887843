"""The rank of the right answer."""

from __future__ import annotations

import torch
from torch import Tensor

from bilex.search.blocks import BUDGET, KEY_BLOCK, score_blocks


def ranks(queries: Tensor, keys: Tensor, gold: Tensor, *, bias: Tensor | None = None, budget: int = BUDGET) -> Tensor:
    """Rank, from 1, of the best-scored gold key of each query among all keys: (q,).

    gold: (q, g) key indices, padded with -1. Any other key with the same score ranks before it: nobody could tell them
    apart, and an answer that is right by luck does not count. The scores are computed twice, in the same blocks, so
    that a gold key is compared with its own score to the last bit.
    """
    found: list[Tensor] = []
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=KEY_BLOCK, budget=budget, passes=2):
        here = gold[sum(map(len, found)) :][: len(rows)].to(rows.device)
        level = rows.new_full((len(rows), 1), -torch.inf)
        above = here.new_zeros(len(rows))
        for turn, (start, scores) in enumerate(blocks):
            inside = (here >= start) & (here < start + scores.shape[1])
            columns = (here - start).clamp(0, scores.shape[1] - 1)
            if turn < -(-len(keys) // KEY_BLOCK):
                own = scores.gather(1, columns)
                own = own.masked_fill(~inside | own.isnan(), -torch.inf)
                level = torch.maximum(level, own.amax(1, keepdim=True))
            else:
                # A gold key is not above another one.
                lowest = scores.new_full(inside.shape, torch.inf).masked_fill(inside, -torch.inf)
                scores.scatter_reduce_(1, columns, lowest, "amin")
                # Counted by what is not below, so that a score that is no number never flatters.
                above += (~(scores < level)).sum(1)
        found.append(above + 1)
    return torch.cat(found) if found else gold.new_empty(0)
