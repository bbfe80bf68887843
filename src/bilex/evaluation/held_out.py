"""Result types: precision on held-out words of a dictionary, and agreement of induced pairs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from bilex.evaluation.precision import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict

    from torch import Tensor

    from bilex.training.trace import Record

HELD_OUT = "held_out"
"""Stage of the record with the precision on dev, measured before the last training on dev."""

Way = Literal["never learnt", "before they were learnt", "second fit"]


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Precision on held-out words of the dictionary, by CSLS.

    P@n: percentage of source words with a right translation among the n best; MRR: mean of 1 / rank.
    """

    words: int
    """Number of source words; all are in the tables."""
    p_at_1: float
    p_at_5: float
    p_at_10: float
    mrr: float
    way: Way
    """Which map was measured: that of the alignment, which was not trained on these words; the one that was chosen by
    them, before the last training on them; or a second one, fitted without them."""

    @classmethod
    def read(cls, found: Dict[str, Any]) -> Self:
        """From alignment.json, or from a record of a method; other keys are ignored."""
        return cls(**{field.name: found[field.name] for field in fields(cls)})


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of the induced pairs with each other, for alignments without held-out words.

    The pairs are the mutual nearest neighbours by CSLS among the most frequent `words` of both tables. A map is fitted
    to some of them, and finds `percent` of the others: 90 is very good, below 40 the map is useless.
    """

    words: int
    percent: float

    @classmethod
    def read(cls, found: Dict[str, Any]) -> Self:
        """From alignment.json."""
        return cls(**{field.name: found[field.name] for field in fields(cls)})


def held_out_record(method: str, ranks: Tensor) -> Record:
    """The record of a method before it trains on dev too.  ranks: (s,), from 1, of the best gold translations."""
    scores = Scores.of(ranks.round(), len(ranks))
    return {"stage": HELD_OUT, "method": method, "words": len(ranks), **asdict(scores)}
