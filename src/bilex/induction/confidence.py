"""Which induced pairs to add to a dictionary, by their confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.induction.induction import InducedPairs

MIN_JUDGED = 20
"""The precision of fewer pairs of dev words means nothing."""


def most_confident(induced: InducedPairs, dev: Tensor | None, precision: float, *, min_share: float = 0.0) -> Tensor:
    """The most confident pairs, as many as reach the precision on the words of the dev pairs (p, 2): (q, 2).

    At least `min_share` of all pairs are taken, and so many that `MIN_JUDGED` of them have dev words, however low their
    precision is. Without dev it is `min_share` of all.
    """
    order = induced.confidence.argsort(descending=True, stable=True)
    count = round(min_share * len(order))
    if dev is not None:
        count = max(count, _count_at_precision(induced.pairs[order], dev, precision))
    return induced.pairs[order[:count].sort().values]


def isin_pairs(pairs: Tensor, others: Tensor) -> Tensor:
    """Whether each of the pairs (p, 2) is one of the others (q, 2): (p,), like `torch.isin`."""
    return (pairs[:, None] == others[None]).all(2).any(1)


def extend_dictionary(pairs: Tensor, induced: Tensor) -> Tensor:
    """The dictionary (p, 2), and after it the induced pairs (q, 2) whose source word is not in it."""
    return torch.cat([pairs, induced[~torch.isin(induced[:, 0], pairs[:, 0])]])


def _count_at_precision(pairs: Tensor, dev: Tensor, precision: float) -> int:
    """How many of the pairs (p, 2), the most confident first, have this precision on dev words."""
    judged = torch.isin(pairs[:, 0], dev[:, 0]).nonzero()[:, 0]
    if not len(judged):
        return 0
    right = isin_pairs(pairs[judged], dev).double()
    good = (right.cumsum(0) / torch.arange(1, len(judged) + 1, device=right.device) >= precision).nonzero()[:, 0]
    return int(judged[max([min(MIN_JUDGED, len(judged)) - 1, *good[-1:].tolist()])]) + 1
