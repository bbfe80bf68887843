"""How well held-out words of a dictionary are translated, and how far induced pairs confirm each other: as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from bilex.evaluation.precision import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict

    from torch import Tensor

    from bilex.training.trace import Record

HELD_OUT = "held_out"
"""The stage of the record in which a method says how well it translated dev before it trained on dev as well."""

Way = Literal["never learnt", "before they were learnt", "second fit"]


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """How well held-out words of the dictionary are translated, by CSLS.

    P@n is the percentage of the source words with a right translation among the n best; MRR the mean of 1 / rank.
    """

    words: int
    """Source words, all of them in the tables."""
    p_at_1: float
    p_at_5: float
    p_at_10: float
    mrr: float
    way: Way
    """Of which map it is: of the one in the alignment, which has never learnt them; of the one that was chosen with
    their help, before they were learnt as well; or of a second one, fitted without them."""

    @classmethod
    def read(cls, found: Dict[str, Any]) -> Self:
        """From alignment.json, or from a record of a method; other keys are left aside."""
        return cls(**{field.name: found[field.name] for field in fields(cls)})


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far the pairs that an alignment finds confirm each other, where no words of a dictionary can tell.

    They are the mutual nearest neighbours by CSLS among the most frequent `words` of both tables. A map is fitted to
    some of them, and gives back `percent` of the others: 90 is very good, below 40 it is nonsense.
    """

    words: int
    percent: float

    @classmethod
    def read(cls, found: Dict[str, Any]) -> Self:
        """From alignment.json."""
        return cls(**{field.name: found[field.name] for field in fields(cls)})


def held_out_record(method: str, ranks: Tensor) -> Record:
    """What a method says of dev before it trains on dev too.  ranks: (s,), from 1, of the best right translations."""
    scores = Scores.of(ranks.round(), len(ranks))
    return {"stage": HELD_OUT, "method": method, "words": len(ranks), **asdict(scores)}
