"""The cache of a run folder: arrays that take long to compute. It can be deleted at any time.

A file that is damaged, of another run or of an earlier version is ignored, and its contents are computed again.
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
"""Key of the note with the identity of the run."""


class Cache:
    """Named files of arrays in the cache of one run. If the folder cannot be written to, nothing is cached."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / CACHE
        self._run = identity(folder / DESCRIPTION)

    def read(self, name: str, forms: Forms, sizes: dict[str, int]) -> dict[str, Tensor] | None:
        """The arrays of a file, on the CPU; None if they are not of this run, or do not have these forms."""
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
        """Write arrays to the cache."""
        with contextlib.suppress(OSError, SafetensorError):
            self._folder.mkdir(exist_ok=True)
            write_arrays(self._file(name), arrays, {RUN: self._run})

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.safetensors"


def identity(description: Path) -> str:
    """Identity of a run: the hash of its alignment.json, which has the hashes of all its files."""
    with contextlib.suppress(OSError):
        require_regular_file(description)
        return hashlib.sha256(description.read_bytes()).hexdigest()
    return ""
