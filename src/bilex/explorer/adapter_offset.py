"""What the adapter of RAPO does to one word: by how much it moves it, where to, and for which neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bilex.methods.rapo.adapter import offsets
from bilex.methods.rapo.context import ITSELF
from bilex.methods.rapo.mapping import TowerMapping

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.mapping import Mapping
    from bilex.methods.rapo.context import Neighbourhoods
    from bilex.retrieval.sides import Side

N = 8


def personal(mapping: Mapping, side: Side, row: int, table: Tensor) -> dict[str, Any] | None:
    """Size and direction of a word's own offset σ(x̄ W), as rows of its table; none where the method has no adapter.

    table: (n, d), the normalized vectors of its language.
    """
    if not isinstance(mapping, TowerMapping) or mapping.activation == "none":
        return None
    x, members = table[row], _members(mapping, side, row, table)
    adapter: Tensor = getattr(mapping, f"{side}_adapter")
    offset = offsets(table[members].mean(0, keepdim=True), adapter.to(table), mapping.activation)[0]
    towards = table @ torch.nn.functional.normalize(offset, dim=0)
    turned = torch.nn.functional.cosine_similarity(x + offset, x, dim=0).clamp(-1, 1)
    return {
        "size": float(offset.norm()),
        "along": float(towards[row]),
        "turned": float(torch.rad2deg(turned.acos())),
        "towards": _words(towards),
        "away": _words(-towards),
        "context": [i for i in members.tolist() if i != row],
    }


def _members(mapping: TowerMapping, side: Side, row: int, table: Tensor) -> Tensor:
    """The words whose mean is the context: those kept with the mapping, or all nearer than τ; itself among them."""
    known: Neighbourhoods | None = getattr(mapping, f"{side}_context")
    if known is not None and known.belong_to(table):
        return known.members[known.offsets[row] : known.offsets[row + 1]]
    cosines = table @ table[row]
    cosines[row] = 1.0
    near = cosines.topk(min(mapping.context_cap or len(table), len(table)))
    return near.indices[near.values > min(getattr(mapping, f"tau_{side}"), ITSELF)]


def _words(values: Tensor) -> list[list[float]]:
    """Rows and cosines of the nearest."""
    top = values.topk(min(N, len(values)))
    return [[i, value] for i, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)]
