"""What a search needs of products in low precision: fewer bits per number, and a bound of the error.

Many processors multiply numbers of 16 or 8 bits two or four times as fast as those of 32. Rows q and k that are rounded
to q̂ and k̂ have a product with

    |q · k − q̂ · k̂| ≤ ‖q − q̂‖ ‖k̂‖ + ‖q‖ ‖k − k̂‖

Such products are not exact enough for a score. They are enough to rule out nearly all candidates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from bilex.search.blocks import Blocks

SUMMATION_ERROR = 2.0**-23
"""A sum of products in float32 is off by at most this share of ‖q‖ ‖k‖, for each dimension."""
UNDERFLOW = 1e-34
"""More than all that is lost where tiny numbers are taken for 0, for each unit of length."""
MIN_SCORES, MIN_KEYS, MIN_DIM = 20_000_000, 2000, 32
"""In smaller searches the products are not what takes the time."""


class LowPrecision(Protocol):
    """Queries and keys in low precision: their rounded scores, and what these imply for the full ones."""

    dtype: torch.dtype
    """Of the rounded scores."""
    key_block: int
    """Keys of a block of scores, if shortlists are short."""

    @staticmethod
    def is_native() -> bool:
        """Whether the processor has instructions for it, and their results are right."""

    @staticmethod
    def is_worthwhile(queries: Tensor, keys: Tensor, n: int) -> bool:
        """Whether a search for the n best is faster in this precision."""

    @staticmethod
    def shortlist_size(n: int) -> int:
        """Rounded scores to list if the n best are wanted; so many that few lists stay unproven."""

    @classmethod
    def of(cls, queries: Tensor, keys: Tensor, *, bias: Tensor | None, budget: int) -> LowPrecision | None:
        """Both tables in this precision; None if that is not possible."""

    def blocks(self, first: int, count: int, *, width: int, budget: int) -> Iterator[Blocks]:
        """Rounded scores of the queries first … first + count with all keys, like `score_blocks`."""

    def upper_bound(self, rounded: Tensor, first: int) -> Tensor:
        """Bound u (q,): a rounded score <= `rounded` implies a full score <= u. Of the queries from `first` on."""

    def threshold(self, scores: Tensor, first: int) -> Tensor:
        """Threshold t (q,): a rounded score <= t implies a full score < `scores`. Of the queries from `first` on."""

    def swapped(self) -> LowPrecision:
        """With queries and keys exchanged; the scores are the same. Only without a bias."""


def is_large_search(queries: Tensor, keys: Tensor) -> bool:
    """Whether low precision can save time: float32 on a CPU, and many products."""
    on_cpu = all(rows.device.type == "cpu" and rows.dtype == torch.float32 for rows in (queries, keys))
    return on_cpu and len(queries) * len(keys) >= MIN_SCORES and len(keys) >= MIN_KEYS and keys.shape[1] >= MIN_DIM


def processor_has(*names: str) -> bool:
    """Whether the processor has one of these instruction sets and torch uses it; older releases of torch do not say."""
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and any(capabilities.get(name) for name in names)
