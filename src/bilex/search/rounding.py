"""Products of rounded rows: fewer bits for every number, and a bound of how far they can be off.

Many processors multiply numbers of 16 or 8 bits two or four times as fast as those of 32. Such products are too coarse
for a score, but enough to rule out nearly all candidates, as it is known how wrong they can be: rows q and k that are
rounded to q̂ and k̂ have a product with

    |q · k − q̂ · k̂| ≤ ‖q − q̂‖ ‖k̂‖ + ‖q‖ ‖k − k̂‖
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from bilex.search.blocks import Blocks

SUMMING = 2.0**-23
"""By at most this share of the lengths of both rows, for each dimension, a sum of products in float32 is off."""
FLUSHED = 1e-34
"""More than all that is lost where numbers too small to be told from 0 are taken for 0, for each unit of length."""
LEAST_SCORES, LEAST_KEYS, LEAST_DIM = 20_000_000, 2000, 32
"""In smaller searches the products are not what takes the time."""


class Rounding(Protocol):
    """Rounded queries and keys: their scores, and what is known by these of the scores in full."""

    dtype: torch.dtype
    """Of the rounded scores."""
    key_block: int
    """Keys of a block of them, if not many are listed."""

    def blocks(self, first: int, count: int, *, width: int, budget: int) -> Iterator[Blocks]:
        """Rounded scores of some queries with all keys, as those of `score_blocks`."""

    def at_most(self, listed: Tensor, first: int) -> Tensor:
        """What a key has at most whose rounded score is at most the one listed, of some queries: (q,)."""

    def below(self, scores: Tensor, first: int) -> Tensor:
        """Rounded scores so low that no key that has at most them has these scores, or more: (q,)."""

    @staticmethod
    def longer(n: int) -> int:
        """How many rounded scores to list where the n best are wanted, so that few lists leave open who these are."""

    def backward(self) -> Rounding:
        """With queries and keys exchanged, where there is no bias; the scores are the same."""


def large(queries: Tensor, keys: Tensor) -> bool:
    """Whether there is something to gain: numbers of 32 bits, on a processor, and many products of them."""
    on_cpu = all(rows.device.type == "cpu" and rows.dtype == torch.float32 for rows in (queries, keys))
    return (
        on_cpu and len(queries) * len(keys) >= LEAST_SCORES and len(keys) >= LEAST_KEYS and keys.shape[1] >= LEAST_DIM
    )


def processor_has(*names: str) -> bool:
    """Whether it has one of these, and torch makes use of it; older releases do not tell."""
    told: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and any(told.get(name) for name in names)
