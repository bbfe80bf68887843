"""GeoMM with self-learning."""

from __future__ import annotations

from dataclasses import dataclass, field

from bilex.induction.induction import Induction
from bilex.methods.base import Method  # noqa: TC001 (the type of a setting, read to parse it)
from bilex.methods.geomm import GeoMM
from bilex.methods.self_learning import SelfLearning


@dataclass(frozen=True, kw_only=True)
class GeoMMSemi(SelfLearning):
    """GeoMM, then GeoMM again on the best translations of all words in both directions, and so on: GeoMM-semi.

    Each round fits GeoMM and induces the best translation by CSLS of each of the 25,000 most frequent words of both
    languages. The next round has the dictionary and these pairs. Rounds end when one is not better on dev. λ grows with
    the number of pairs. The last fit has the dictionary, dev, and the pairs that the selected round was trained on; if
    that is the first round, there are no such pairs.

    As in all self-learning here, words of the dictionary get no other translations (in the paper they do, which was
    worse on held-out words); vectors have length 1 after centering too; a round that is worse on dev by less than a
    standard error can be selected; without dev the mean cosine decides. λ is between 0.01 and 0.1 per pair, as in the
    paper.
    """

    name = "geomm_semi"
    paper = GeoMM.paper

    base: Method = field(default_factory=lambda: GeoMM(penalty=(3e3,), refit=False))
    rounds: int = 10
    patience: int | None = 1
    induction: Induction = field(default_factory=lambda: Induction(max_rank=25_000, direction="union"))
    newest: bool = False
