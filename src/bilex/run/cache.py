"""The cache of a run folder: what takes long to compute and may be deleted at any time. Nothing in it is an error.

A file that is damaged, of another run or of an earlier version is not taken: what it should hold is computed anew.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from safetensors import SafetensorError

from bilex.run.files import CACHE, DESCRIPTION
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.storage.array_form import check_arrays
from bilex.storage.disk import require_regular_file

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from bilex.storage.array_form import Forms

RUN = "run"
"""The note that says of which run the arrays are."""


class Cache:
    """Named files of arrays in the cache of one run; a folder that cannot be written to just keeps none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / CACHE
        self._run = _identity(folder / DESCRIPTION)

    def read(self, name: str, forms: Forms, sizes: dict[str, int]) -> dict[str, Tensor] | None:
        """The arrays of a file, on the CPU, if they are of this run and in these forms."""
        path = self._file(name)
        try:
            arrays, notes = read_arrays(path)
            if notes.get(RUN) != self._run:
                return None
            check_arrays(arrays, forms, sizes)
        except (OSError, ValueError):
            return None
        return arrays

    def write(self, name: str, arrays: dict[str, Tensor]) -> None:
        """Keep arrays for the next time."""
        with contextlib.suppress(OSError, SafetensorError):
            self._folder.mkdir(exist_ok=True)
            write_arrays(self._file(name), arrays, {RUN: self._run})

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.safetensors"


def _identity(description: Path) -> str:
    """What one run has and no other: its alignment.json names the hashes of its files."""
    with contextlib.suppress(OSError):
        require_regular_file(description)
        return hashlib.sha256(description.read_bytes()).hexdigest()
    return ""
