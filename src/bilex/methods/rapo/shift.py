"""A shift of each source word, after the towers: what they leave over for the dictionary words near it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import torch

from bilex.mapping import Mapping, nested_arrays, nested_mapping
from bilex.normalize import unit
from bilex.search.smoothing import nearest_average
from bilex.storage.array_form import ArrayForm
from bilex.training.negatives import gold_lists

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.storage.array_form import Forms

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the shift from which dev chooses."""
DEFAULT_SHARE = 0.25
"""Without dev."""
POWER = 4
"""Of the cosines that weight the near words."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Residuals:
    """What a mapping leaves over for the words of a dictionary:  t̄ⱼ − sⱼ at sⱼ: (p, d) each.

    sⱼ are the mapped source words, t̄ⱼ the normalized means of their mapped translations.
    """

    anchors: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, x: Tensor, z: Tensor, pairs: Tensor) -> Self:
        """x: (n, d), z: (m, d), unit rows, mapped; pairs: (p, 2)."""
        words, gold = gold_lists(pairs)
        known = (gold >= 0).to(z)
        means = unit(torch.einsum("pgd,pg->pd", z[gold.clamp_min(0)], known))
        return cls(anchors=x[words], offsets=means - x[words])

    def shift(self, x: Tensor, neighbours: int) -> Tensor:
        """The mean of the nearest residuals of each word: (n, d).  x: (n, d), unit rows, mapped."""
        return nearest_average(x, self.anchors.to(x), self.offsets.to(x), neighbours, power=POWER)


@dataclass(frozen=True, eq=False, kw_only=True)
class ShiftedMapping(Mapping, kind="shifted"):
    """x → f(x) + share · Σⱼ wⱼ (t̄ⱼ − sⱼ),  z → g(z):  wⱼ by the cosines of f(x) with its nearest sⱼ."""

    base: Mapping
    residuals: Residuals
    share: float
    neighbours: int

    def source(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Rows of the base mapping, of length 1, and then shifted."""
        mapped = unit(self.base.source(rows, among=among))
        return mapped.add(self.residuals.shift(mapped, self.neighbours), alpha=self.share)

    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Rows of the base mapping."""
        return self.base.target(rows, among=among)

    def completing(self, light: Mapping, x: Tensor, z: Tensor, pairs: Tensor) -> ShiftedMapping:
        """The light mapping, with as much of a shift."""
        residuals = Residuals.of(unit(light.source(x)), unit(light.target(z)), pairs)
        return replace(self, base=light, residuals=residuals)

    def arrays(self) -> dict[str, Tensor]:
        """Those of the base mapping, and of the shift."""
        numbers = torch.tensor([self.share, self.neighbours], dtype=torch.float64)
        return nested_arrays(self.base, "base.") | vars(self.residuals) | {"settings": numbers}

    @classmethod
    def forms(cls, arrays: dict[str, Tensor]) -> Forms:
        """The base mapping checks its own."""
        own = {"anchors": ArrayForm(("p", "e")), "offsets": ArrayForm(("p", "e")), "settings": ArrayForm((2,))}
        return super().forms({name: array for name, array in arrays.items() if name.startswith("base.")}) | own

    @classmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`."""
        share, neighbours = arrays["settings"].tolist()
        base = nested_mapping(arrays, "base.")
        if base is None or not 0 <= share <= 1 or not neighbours.is_integer() or not 1 <= neighbours < 2**31:
            raise ValueError(f"the settings are {arrays['settings'].tolist()}, which are not those of a shift")
        residuals = Residuals(anchors=arrays["anchors"], offsets=arrays["offsets"])
        return cls(base=base, residuals=residuals, share=share, neighbours=int(neighbours))
