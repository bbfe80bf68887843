"""RAPO with self-learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

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
    """RAPO, then RAPO again on the most confident of the pairs it has found: RAPO-semi.

    A dictionary that is too small for RAPO is enlarged first, by self-learning with a linear map.
    """

    name = "rapo_semi"
    paper = "Tian, Li, Ren et al. (2022). RAPO: an adaptive ranking paradigm for bilingual lexicon induction. EMNLP"

    renamed: ClassVar[dict[str, str]] = SelfLearning.renamed | {"few": "enlarge_below"}  # old names

    base: Method = field(default_factory=lambda: Rapo(refit=False, warm_start=False))
    rounds: int = 1
    induction: Induction = field(
        default_factory=lambda: Induction(candidates=40_000, confidence="margin", rank_penalty=0.04)
    )
    precision: float | None = 0.9
    enlarge_below: int = 1500
    """A dictionary with fewer source words than this is enlarged first."""
    initial: VecMapUnsupervised = field(default_factory=VecMapUnsupervised)
    """The method that enlarges a small dictionary."""
    linear_rounds: int = 5
    """Rounds of GeoMM after `initial`, each with more of the induced pairs than the round before."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "linear_rounds")

    def is_small(self, source_words: int) -> bool:
        """Whether a dictionary is enlarged first.  source_words: those that have vectors."""
        return source_words < self.enlarge_below

    def share_before(self, pairs: Tensor) -> float:
        """Enlarging a dictionary takes about a third of the time."""
        return 0.3 if self.is_small(len(torch.unique(pairs[:, 0]))) else 0.0

    def first_pairs(self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace) -> Tensor:
        """The dictionary; if it is small, enlarged by mutual neighbours under a linear map."""
        if not self.is_small(len(torch.unique(pairs[:, 0]))):
            return pairs
        mapping = self.initial.fit(x, z, pairs, generator=generator, trace=trace.span(0, 0.8))
        report = trace.span(0.8, 1).progress("linear rounds")
        for number in range(self.linear_rounds):
            enlarged = self._enlarge(mapping, x, z, pairs, generator, progress=number / self.linear_rounds)
            trace(linear_round=number, pairs=len(enlarged))
            mapping = GeoMM().fit(x, z, enlarged, dev=None, trace=trace)
            report(number + 1, self.linear_rounds)
        return self._enlarge(mapping, x, z, pairs, generator, progress=0)

    def _enlarge(
        self, mapping: LinearMapping, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, *, progress: float
    ) -> Tensor:
        """The dictionary and the pairs selected under a linear map; progress: as in `select_pairs`."""
        induced = self.induction(unit(mapping.source(x)), unit(mapping.target(z)), generator)
        return extend_dictionary(pairs, self.select_pairs(induced, None, progress=progress))
