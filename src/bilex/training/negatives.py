"""Wrong answers to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 1 << 26
"""Comparisons made at a time."""


def gold_lists(pairs: Tensor) -> tuple[Tensor, Tensor]:
    """The different sources of the pairs (s,), and for each the targets it has, padded with -1 (s, g)."""
    sources, place = torch.unique(pairs[:, 0], return_inverse=True)
    order = place.argsort(stable=True)
    lists = list(torch.split(pairs[order, 1], place.bincount().tolist()))
    return sources, torch.nn.utils.rnn.pad_sequence(lists, batch_first=True, padding_value=-1)


def hard_negatives(queries: Tensor, keys: Tensor, gold: Tensor, count: int, *, bias: Tensor | None = None) -> Tensor:
    """The `count` best-scored keys of each query that are none of its gold keys: (q, count), padded with -1.

    gold: (q, g), padded with -1.
    """
    found = topk(queries, keys, count + gold.shape[1], bias=bias).indices
    found = found.masked_fill(is_gold(found, gold), -1)
    order = (found < 0).to(torch.int8).argsort(dim=1, stable=True)  # the wrong ones first, best first
    found = found.gather(1, order)[:, :count]
    return torch.nn.functional.pad(found, (0, count - found.shape[1]), value=-1)


def is_gold(keys: Tensor, gold: Tensor) -> Tensor:
    """Which of the keys (q, k) are among the gold keys of their row (q, g): (q, k)."""
    at_once = max(1, AT_ONCE // max(1, keys.shape[1] * gold.shape[1]))
    parts = zip(torch.split(keys, at_once), torch.split(gold, at_once), strict=True)
    return torch.cat([(some[:, :, None] == right[:, None, :]).any(2) for some, right in parts])
