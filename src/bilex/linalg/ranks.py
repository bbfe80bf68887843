"""The rank of the right answer."""

from __future__ import annotations

import torch
from torch import Tensor

from bilex.linalg.blocks import BUDGET, KEY_BLOCK, score_blocks


def ranks(queries: Tensor, keys: Tensor, gold: Tensor, *, bias: Tensor | None = None, budget: int = BUDGET) -> Tensor:
    """Rank, from 1, of the best-scored gold key of each query among all keys: (q,).

    gold: (q, g) key indices, padded with -1. Of equal scores the lower index ranks first, as in `topk`. The scores are
    computed twice, in the same blocks, so that a gold key is compared with its own score to the last bit.
    """
    found: list[Tensor] = []
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=KEY_BLOCK, budget=budget, passes=2):
        here = gold[sum(map(len, found)) :][: len(rows)].to(rows.device)
        level = rows.new_full((len(rows), 1), -torch.inf)
        place = here.new_full((len(rows), 1), len(keys))
        above = here.new_zeros(len(rows))
        for turn, (start, scores) in enumerate(blocks):
            if turn < -(-len(keys) // KEY_BLOCK):
                level, place = _best_gold(level, place, here, start, scores)
            else:
                index = torch.arange(start, start + scores.shape[1], device=scores.device)
                # Counted by what is not below, so that a score that is no number never flatters.
                above += (~((scores < level) | ((scores == level) & (index >= place)))).sum(1)
        found.append(above + 1)
    return torch.cat(found) if found else gold.new_empty(0)


def _best_gold(level: Tensor, place: Tensor, gold: Tensor, start: int, scores: Tensor) -> tuple[Tensor, Tensor]:
    """The best gold score seen so far and its index (the lowest, of equals), (q, 1) each, after one more block."""
    inside = (gold >= start) & (gold < start + scores.shape[1])
    here = scores.gather(1, (gold - start).clamp(0, scores.shape[1] - 1))
    here = here.masked_fill(~inside | here.isnan(), -torch.inf)
    new = torch.maximum(level, here.amax(1, keepdim=True))
    candidate = gold.masked_fill(~inside | (here < new), torch.iinfo(gold.dtype).max).amin(1, keepdim=True)
    return new, torch.where(new > level, candidate, torch.minimum(place, candidate))
