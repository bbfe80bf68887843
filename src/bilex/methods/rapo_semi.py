"""RAPO with self-learning."""

from __future__ import annotations

from dataclasses import dataclass, field

from bilex.methods.base import Method
from bilex.methods.rapo import Rapo
from bilex.methods.self_learning import SelfLearning


@dataclass(frozen=True, kw_only=True)
class RapoSemi(SelfLearning):
    """RAPO, then rounds of RAPO that go on with the pairs it found itself: RAPO-semi."""

    name = "rapo_semi"
    paper = "Tian, Li, Ren et al. (2022). RAPO: an adaptive ranking paradigm for bilingual lexicon induction. EMNLP"

    base: Method = field(default_factory=lambda: Rapo(refit=False))
    again: Method | None = field(default_factory=lambda: Rapo(refit=False, epochs=3, learning_rate=2e-4))
