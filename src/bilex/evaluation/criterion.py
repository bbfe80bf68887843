"""How good two mapped tables are, for choices: on dev pairs, or without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.induction.neighbours import Induction
from bilex.linalg.topk import ranks, topk
from bilex.training.negatives import gold_lists

if TYPE_CHECKING:
    from torch import Tensor


def dev_mrr(x: Tensor, z: Tensor, dev: Tensor, *, k: int = 10) -> float:
    """Mean reciprocal rank by CSLS of the dev pairs (p, 2), among all words.  x: (n, d), z: (m, d), unit rows."""
    sources, gold = gold_lists(dev)
    penalty = topk(z, x, k).values.mean(1)
    return float((1 / ranks(x[sources], z, gold, bias=-penalty / 2).double()).mean())


def mean_cosine(x: Tensor, z: Tensor, max_rank: int) -> float:
    """Mean cosine of the mutual CSLS neighbours among the most frequent words: the more alike, the better the map.

    Words without such a neighbour count as 0, so that few good pairs do not pass for a good map.
    """
    pairs = Induction(max_rank=max_rank)(x, z, torch.Generator()).pairs
    cosines = (x[pairs[:, 0]] * z[pairs[:, 1]]).sum(1)
    return float(cosines.sum()) / min(max_rank, len(x), len(z))
