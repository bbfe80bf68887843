"""Penalties of retrieval, kept in the folder of a run once they are computed."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes

from bilex.files import replacing
from bilex.retrieval.partial import Partial

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from torch import Tensor

    from bilex.retrieval import Retrieval
    from bilex.retrieval.base import Side


class _Kept(dict["Side", Any]):
    """Values by side, kept in the run folder; a folder that cannot be written to just keeps none."""

    part: str = ""

    def __init__(self, folder: Path, retrieval: Retrieval, device: torch.device, sizes: dict[Side, int]) -> None:
        """sizes: rows of the tables. A file that does not fit them was copied from another run, or is damaged."""
        super().__init__()
        settings = [f"{name}={value}" for name, value in dataclasses.asdict(retrieval).items()]
        self._stem = folder / "cache" / "-".join([retrieval.name, *settings])
        for side, size in sizes.items():
            with contextlib.suppress(OSError, SafetensorError, KeyError):
                arrays = load_file(self._file(side), device=str(device))
                if all(array.shape == (size,) for array in arrays.values()):
                    super().__setitem__(side, self._value(arrays))

    def __setitem__(self, side: Side, value: Any) -> None:
        super().__setitem__(side, value)
        if value is not None:
            with contextlib.suppress(OSError, SafetensorError):
                self._stem.parent.mkdir(exist_ok=True)
                arrays = {name: array.cpu().contiguous() for name, array in self._arrays(value).items()}
                with replacing(self._file(side)) as temporary:
                    temporary.write_bytes(to_bytes(arrays))

    def _file(self, side: Side) -> Path:
        return self._stem.with_name(f"{self._stem.name}.{side}{self.part}.safetensors")

    def _arrays(self, value: Any) -> dict[str, Tensor]:
        return {"penalty": value}

    def _value(self, arrays: dict[str, Tensor]) -> Any:
        return arrays["penalty"]


class KeptPenalties(_Kept):
    """Penalties of whole tables."""


class KeptPartial(_Kept):
    """What is known of penalties that are not all computed."""

    part = ".partial"

    def _arrays(self, value: Partial) -> dict[str, Tensor]:
        return {"penalty": value.values, "exact": value.exact}

    def _value(self, arrays: dict[str, Tensor]) -> Partial:
        return Partial(arrays["penalty"], arrays["exact"])
