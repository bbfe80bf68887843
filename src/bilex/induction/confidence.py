"""Which induced pairs to add to a dictionary, by their confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.induction.induction import InducedPairs

Extension = Literal["new_words", "new_pairs", "all"]
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
    base = 1 + max((int(both[:, 1].max()) for both in (pairs, others) if len(both)), default=0)
    numbers = [both[:, 0] * base + both[:, 1] for both in (pairs, others)]
    return torch.isin(*numbers)


def extend_dictionary(pairs: Tensor, induced: Tensor, extension: Extension = "new_words") -> Tensor:
    """The dictionary (p, 2), and after it induced pairs (q, 2).

    `new_words`: those whose source word is not in the dictionary; `new_pairs`: those that are not in it; `all`: all of
    them, so that a pair can occur twice.
    """
    if extension == "new_words":
        induced = induced[~torch.isin(induced[:, 0], pairs[:, 0])]
    elif extension == "new_pairs":
        induced = induced[~isin_pairs(induced, pairs)]
    return torch.cat([pairs, induced])


def _count_at_precision(pairs: Tensor, dev: Tensor, precision: float) -> int:
    """How many of the pairs (p, 2), the most confident first, have this precision on dev words."""
    judged = torch.isin(pairs[:, 0], dev[:, 0]).nonzero()[:, 0]
    if not len(judged):
        return 0
    right = isin_pairs(pairs[judged], dev).double()
    good = (right.cumsum(0) / torch.arange(1, len(judged) + 1, device=right.device) >= precision).nonzero()[:, 0]
    return int(judged[max([min(MIN_JUDGED, len(judged)) - 1, *good[-1:].tolist()])]) + 1
