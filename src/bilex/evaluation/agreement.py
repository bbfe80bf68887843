"""Agreement of the induced pairs with each other: detects maps that failed, without a dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.errors import AlignmentError
from bilex.evaluation.criterion import agreement
from bilex.induction.induction import Induction

if TYPE_CHECKING:
    from torch import Generator, Tensor


def mutual_agreement(x: Tensor, z: Tensor, generator: Generator, *, max_rank: int = 4000, k: int = 10) -> float:
    """How much the mutual nearest neighbours among the most frequent words agree with each other (0 to 1).

    x: (n, d), z: (m, d), unit rows in one space, in order of frequency.
    """
    x, z = x[:max_rank], z[:max_rank]
    mutual = Induction(max_rank=max_rank, k=k)(x, z, generator).pairs
    return agreement(x, z, mutual, generator, k=k) if len(mutual) > 1 else 0.0


def failure(name: str, *, tries: int, found: float, needed: float) -> AlignmentError:
    """The error to raise if even the best of several tries has too little agreement."""
    return AlignmentError(
        f"{name} has failed, tried {tries} times: a map learnt from some of the pairs it found gives "
        f"back {found:.0%} of the others, needed {needed:.0%} (min_agreement); its translations are nonsense. "
        "Try another `rng_seed`, or help it with a small dictionary (`train`), or with words that are spelt alike "
        "in both languages: `spelling='identical'` or `spelling='numerals'`"
    )
