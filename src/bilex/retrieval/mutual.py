"""Which candidates have a row as their own best candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.retrieval.sides import Sides, reverse

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.retrieval.index import Index
    from bilex.retrieval.sides import Direction
    from bilex.search.blocks import Progress


def is_mutual(
    index: Index,
    rows: Tensor,
    places: Tensor,
    direction: Direction = "forward",
    *,
    first: int | None = None,
    progress: Progress | None = None,
) -> Tensor:
    """Whether a row is the best candidate of its candidates.  rows: (q,), places and result: (q, n).

    With `first`, only the first rows of its table compete with it.
    """
    table = Sides(index.x, index.z).along(direction).target
    hits, place = torch.unique(places, return_inverse=True)
    back = index.topk(table[hits], 1, reverse(direction), first=first, rows=hits, progress=progress)
    return back.indices[:, 0][place] == rows[:, None]
