"""The rank of the right key."""

from __future__ import annotations

import torch
from torch import Tensor

from bilex.search.blocks import BUDGET, KEY_BLOCK, score_blocks


def ranks(queries: Tensor, keys: Tensor, gold: Tensor, *, bias: Tensor | None = None, budget: int = BUDGET) -> Tensor:
    """Rank = 1 + number of other keys that score at least as high as the best gold key: (q,), from 1.

    queries: (q, d), keys: (m, d), bias: (m,), gold: (q, g) key indices, padded with -1.

    A tie counts against the gold key: a right answer by luck does not count. The scores are computed twice, in the same
    blocks, so that a gold key is compared with its own score to the last bit.
    """
    parts: list[Tensor] = []
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=KEY_BLOCK, budget=budget, passes=2):
        own_gold = gold[sum(map(len, parts)) :][: len(rows)].to(rows.device)
        gold_score = rows.new_full((len(rows), 1), -torch.inf)
        above = own_gold.new_zeros(len(rows))
        for number, (start, scores) in enumerate(blocks):
            inside = (own_gold >= start) & (own_gold < start + scores.shape[1])
            columns = (own_gold - start).clamp(0, scores.shape[1] - 1)
            if number < -(-len(keys) // KEY_BLOCK):
                own = scores.gather(1, columns)
                own = own.masked_fill(~inside | own.isnan(), -torch.inf)
                gold_score = torch.maximum(gold_score, own.amax(1, keepdim=True))
            else:
                # A gold key is never counted as above another one.
                lowest = scores.new_full(inside.shape, torch.inf).masked_fill(inside, -torch.inf)
                scores.scatter_reduce_(1, columns, lowest, "amin")
                # "Not below" counts NaN as above, so that it never improves a rank.
                above += (~(scores < gold_score)).sum(1)
        parts.append(above + 1)
    return torch.cat(parts) if parts else gold.new_empty(0)
