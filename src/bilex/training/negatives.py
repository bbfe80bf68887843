"""Hard negatives: wrong candidates with high scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

MAX_COMPARISONS = 1 << 26
"""Comparisons made at a time, to limit memory."""


def gold_lists(pairs: Tensor) -> tuple[Tensor, Tensor]:
    """The source words of the pairs, each once: (s,); and the targets of each, padded with -1: (s, g)."""
    sources, place = torch.unique(pairs[:, 0], return_inverse=True)
    order = place.argsort(stable=True)
    lists = list(torch.split(pairs[order, 1], place.bincount().tolist()))
    return sources, torch.nn.utils.rnn.pad_sequence(lists, batch_first=True, padding_value=-1)


def hard_negatives(queries: Tensor, keys: Tensor, gold: Tensor, count: int, *, bias: Tensor | None = None) -> Tensor:
    """The `count` keys with the highest scores per query, without its gold keys: (q, count), padded with -1.

    gold: (q, g), padded with -1.
    """
    return best_without_gold(topk(queries, keys, count + gold.shape[1], bias=bias).indices, gold, count)


def best_without_gold(best: Tensor, gold: Tensor, count: int) -> Tensor:
    """The first `count` of the keys (q, k) that are not gold keys of their row (q, g): (q, count), padded with -1.

    best: the keys of each query, best first; gold: padded with -1.
    """
    best = best.masked_fill(is_gold(best, gold), -1)
    order = (best < 0).to(torch.int8).argsort(dim=1, stable=True)  # padding last, the rest in the same order
    negatives = best.gather(1, order)[:, :count]
    return torch.nn.functional.pad(negatives, (0, count - negatives.shape[1]), value=-1)


def is_gold(keys: Tensor, gold: Tensor) -> Tensor:
    """Which of the keys (q, k) are among the gold keys of their row (q, g): (q, k)."""
    height = max(1, MAX_COMPARISONS // max(1, keys.shape[1] * gold.shape[1]))
    blocks = zip(torch.split(keys, height), torch.split(gold, height), strict=True)
    return torch.cat([(block[:, :, None] == right[:, None, :]).any(2) for block, right in blocks])
