"""Cache of the retrieval penalties of a run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from bilex.retrieval.partial_penalties import PartialPenalties
from bilex.run.cache import Cache
from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from torch import Tensor

    from bilex.retrieval import Retrieval
    from bilex.retrieval.sides import Side, Sides

WHOLE = {"penalty": ArrayForm(("words",))}
PARTIAL = WHOLE | {"exact": ArrayForm(("words",), "bool")}


class PenaltyCache:
    """The penalties of both tables for one kind of retrieval, in files of a run folder.

    sizes: rows of the tables.
    """

    def __init__(self, folder: Path, retrieval: Retrieval, device: torch.device, sizes: Sides[int]) -> None:
        settings = [f"{name}={value}" for name, value in dataclasses.asdict(retrieval).items()]
        self._cache, self._name = Cache(folder), "-".join([retrieval.name, *settings])
        self._device, self._sizes = device, sizes

    def get(self, side: Side) -> Tensor | PartialPenalties | None:
        """The penalties of one table, complete ones if there are any; None if there are none, or they are damaged."""
        sizes = {"words": self._sizes.of(side)}
        if (whole := self._cache.read(self._file(side), WHOLE, sizes)) is not None:
            return whole["penalty"].to(self._device)
        partial = self._cache.read(self._partial_file(side), PARTIAL, sizes)
        if partial is None:
            return None
        return PartialPenalties(partial["penalty"].to(self._device), partial["exact"].to(self._device))

    def put(self, side: Side, penalties: Tensor | PartialPenalties) -> None:
        """Write the penalties of one table."""
        if isinstance(penalties, PartialPenalties):
            self._cache.write(self._partial_file(side), {"penalty": penalties.values, "exact": penalties.exact})
        else:
            self._cache.write(self._file(side), {"penalty": penalties})

    def _file(self, side: Side) -> str:
        return f"{self._name}.{side}"

    def _partial_file(self, side: Side) -> str:
        return f"{self._name}.{side}.partial"
