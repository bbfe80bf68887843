"""RAPO without a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field

from bilex.induction.induction import Induction
from bilex.methods.rapo.rapo_semi import RapoSemi


@dataclass(frozen=True, kw_only=True)
class RapoUnsupervised(RapoSemi):
    """RAPO on pairs that unsupervised VecMap has found, then rounds of RAPO-semi.

    The paper says that RAPO cannot be used without a dictionary. Here the found pairs take its place. The first maps
    are worse than maps from a dictionary. Therefore frequent words are preferred more strongly.
    """

    name = "rapo_unsupervised"
    needs_pairs = False

    rounds: int = 2
    induction: Induction = field(
        default_factory=lambda: Induction(candidates=40_000, confidence="margin", rank_penalty=0.08)
    )
    min_share: float = 0.5
