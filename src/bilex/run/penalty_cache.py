"""Penalties of retrieval, kept in the cache of a run once they are computed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from bilex.retrieval.partial_penalties import PartialPenalties
from bilex.run.cache import Cache
from bilex.storage.array_form import ArrayForm, Forms

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from torch import Tensor

    from bilex.retrieval import Retrieval
    from bilex.retrieval.base import Side


class _Kept(dict["Side", Any]):
    """Values by side, kept in the run folder."""

    part: str = ""
    forms: Forms

    def __init__(self, folder: Path, retrieval: Retrieval, device: torch.device, sizes: dict[Side, int]) -> None:
        """sizes: rows of the tables."""
        super().__init__()
        settings = [f"{name}={value}" for name, value in dataclasses.asdict(retrieval).items()]
        self._cache, self._name = Cache(folder), "-".join([retrieval.name, *settings])
        for side, size in sizes.items():
            arrays = self._cache.read(self._file(side), self.forms, {"words": size})
            if arrays is not None:
                super().__setitem__(side, self._value({name: array.to(device) for name, array in arrays.items()}))

    def __setitem__(self, side: Side, value: Any) -> None:
        super().__setitem__(side, value)
        if value is not None:
            self._cache.write(self._file(side), self._arrays(value))

    def _file(self, side: Side) -> str:
        return f"{self._name}.{side}{self.part}"

    def _arrays(self, value: Any) -> dict[str, Tensor]:
        return {"penalty": value}

    def _value(self, arrays: dict[str, Tensor]) -> Any:
        return arrays["penalty"]


class KeptPenalties(_Kept):
    """Penalties of whole tables."""

    forms = {"penalty": ArrayForm(("words",))}  # noqa: RUF012 (never changed)


class KeptPartial(_Kept):
    """Penalties of a table that are not all computed."""

    part = ".partial"
    forms = KeptPenalties.forms | {"exact": ArrayForm(("words",), "bool")}

    def _arrays(self, value: PartialPenalties) -> dict[str, Tensor]:
        return {"penalty": value.values, "exact": value.exact}

    def _value(self, arrays: dict[str, Tensor]) -> PartialPenalties:
        return PartialPenalties(arrays["penalty"], arrays["exact"])
