"""RAPO without a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bilex.methods.rapo_semi import RapoSemi
from bilex.methods.vecmap_unsupervised import VecMapUnsupervised

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.trace import Trace


@dataclass(frozen=True, kw_only=True)
class RapoUnsupervised(RapoSemi):
    """RAPO on pairs that unsupervised VecMap has found, then rounds on its own; its paper calls this impossible.

    A dictionary, if there is one, is where self-learning begins, and what always stays.
    """

    name = "rapo_unsupervised"
    needs_pairs = False

    initial: VecMapUnsupervised = field(default_factory=VecMapUnsupervised)
    """How the first pairs are found."""

    def first_pairs(self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace) -> Tensor:
        """Mutual neighbours under the map of unsupervised VecMap, with the dictionary if there is one."""
        mapping = self.initial.fit(x, z, pairs, generator=generator, trace=trace)
        return self.add_induced(mapping.source(x), mapping.target(z), pairs, generator)
