"""RAPO with self-learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from bilex.induction.confidence import extend_dictionary
from bilex.induction.induction import Induction
from bilex.methods.base import Method  # noqa: TC001 (the type of a setting, read to parse it)
from bilex.methods.geomm import GeoMM
from bilex.methods.rapo.rapo import Rapo
from bilex.methods.self_learning import SelfLearning
from bilex.methods.vecmap_unsupervised import VecMapUnsupervised
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import LinearMapping
    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class RapoSemi(SelfLearning):
    """RAPO, then RAPO again with the surest of the pairs it has found itself: RAPO-semi.

    A dictionary too small for RAPO is made larger first, by self-learning with a linear map.
    """

    name = "rapo_semi"
    paper = "Tian, Li, Ren et al. (2022). RAPO: an adaptive ranking paradigm for bilingual lexicon induction. EMNLP"

    base: Method = field(default_factory=lambda: Rapo(refit=False, go_on=False))
    rounds: int = 1
    induction: Induction = field(
        default_factory=lambda: Induction(candidates=40_000, confidence="margin", rank_penalty=0.04)
    )
    precision: float | None = 0.9
    few: int = 1500
    """A dictionary of fewer source words than this is too small, and is made larger first."""
    initial: VecMapUnsupervised = field(default_factory=VecMapUnsupervised)
    """What makes a dictionary larger that is too small."""
    linear_rounds: int = 5
    """Rounds with GeoMM that follow on `initial`, each with more of the pairs than the one before."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "linear_rounds")

    def is_small(self, source_words: int) -> bool:
        """Whether a dictionary with so many source words that have vectors is made larger first."""
        return source_words < self.few

    def share_before(self, pairs: Tensor) -> float:
        """Making a dictionary larger takes about a third of the time."""
        return 0.3 if self.is_small(len(torch.unique(pairs[:, 0]))) else 0.0

    def first_pairs(self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace) -> Tensor:
        """The dictionary; if it is too small, with mutual neighbours under the linear map."""
        if not self.is_small(len(torch.unique(pairs[:, 0]))):
            return pairs
        mapping = self.initial.fit(x, z, pairs, generator=generator, trace=trace.span(0, 0.8))
        progress = trace.span(0.8, 1).progress("linear rounds")
        for number in range(self.linear_rounds):
            larger = self._enlarged(mapping, x, z, pairs, generator, grown=number / self.linear_rounds)
            trace(linear_round=number, pairs=len(larger))
            mapping = GeoMM().fit(x, z, larger, dev=None, trace=trace)
            progress(number + 1, self.linear_rounds)
        return self._enlarged(mapping, x, z, pairs, generator, grown=0)

    def _enlarged(
        self, mapping: LinearMapping, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, *, grown: float
    ) -> Tensor:
        found = self.induction(unit(mapping.source(x)), unit(mapping.target(z)), generator)
        return extend_dictionary(pairs, self.believed(found, None, grown=grown))
