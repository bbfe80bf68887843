"""The offset that the adapter of RAPO adds to one word: its length, its direction, and the context words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bilex.methods.rapo.adapter import offsets
from bilex.methods.rapo.context import ITSELF, Neighbourhoods
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.shift import ShiftedMapping

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.mapping import Mapping
    from bilex.methods.rapo.context import Contexts
    from bilex.retrieval.sides import Side

N = 8


def personal(mapping: Mapping, side: Side, row: int, table: Tensor) -> dict[str, Any] | None:
    """Length and direction of the offset σ(x̄ W) of a word, as rows of its table; None if the method has no adapter.

    table: (n, d), the normalized vectors of the language of the word.
    """
    if isinstance(mapping, ShiftedMapping):
        mapping = mapping.base
    if not isinstance(mapping, TowerMapping) or mapping.activation == "none":
        return None
    x, members = table[row], _members(mapping, side, row, table)
    adapter: Tensor = getattr(mapping, f"{side}_adapter")
    offset = offsets(table[members].mean(0, keepdim=True), adapter.to(table), mapping.activation)[0]
    cosines = table @ torch.nn.functional.normalize(offset, dim=0)
    cosine = torch.nn.functional.cosine_similarity(x + offset, x, dim=0).clamp(-1, 1)
    return {
        "size": float(offset.norm()),
        "along": float(cosines[row]),
        "turned": float(torch.rad2deg(cosine.acos())),
        "towards": _nearest(cosines),
        "away": _nearest(-cosines),
        "context": [i for i in members.tolist() if i != row],
    }


def _members(mapping: TowerMapping, side: Side, row: int, table: Tensor) -> Tensor:
    """Rows whose mean is the context, with the word itself: as stored in the mapping, or all with a cosine above τ."""
    stored: Contexts | None = getattr(mapping, f"{side}_context")
    if isinstance(stored, Neighbourhoods) and stored.belong_to(table):
        return stored.members[stored.offsets[row] : stored.offsets[row + 1]]
    cosines = table @ table[row]
    cosines[row] = 1.0
    near = cosines.topk(min(mapping.context_cap or len(table), len(table)))
    return near.indices[near.values > min(getattr(mapping, f"tau_{side}"), ITSELF)]


def _nearest(values: Tensor) -> list[list[float]]:
    """Rows and cosines of the nearest words."""
    top = values.topk(min(N, len(values)))
    return [[i, value] for i, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)]
