"""How good two mapped tables are, for choices: on dev pairs, or without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.linalg.topk import ranks, topk
from bilex.training.negatives import gold_lists

if TYPE_CHECKING:
    from torch import Tensor


def reciprocal_ranks(x: Tensor, z: Tensor, dev: Tensor, *, k: int = 10) -> Tensor:
    """1 / rank by CSLS, among all words, of the best translation of each source word of the dev pairs (p, 2): (s,).

    x: (n, d), z: (m, d), unit rows.
    """
    sources, gold = gold_lists(dev)
    penalty = topk(z, x, k).values.mean(1)
    return 1 / ranks(x[sources], z, gold, bias=-penalty / 2).double()


def mean_cosine(x: Tensor, z: Tensor, pairs: Tensor, words: int) -> float:
    """Mean cosine of induced pairs (p, 2) over all the words that could have one: the more alike, the better the map.

    Words without a pair count as 0, so that few good pairs do not pass for a good map.
    """
    return float((x[pairs[:, 0]] * z[pairs[:, 1]]).sum()) / words
