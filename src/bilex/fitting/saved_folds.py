"""The finished folds of a second stage in the folder of a checkpoint, to resume after an interruption."""

from __future__ import annotations

import contextlib
import hashlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bilex.retrieval.sides import Sides
from bilex.run.files import FOLD_FILES
from bilex.run.lists_file import lists_of, write_lists
from bilex.storage.array_file import read_arrays
from bilex.storage.strict_json import to_json

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.rerank.cross_fitting import Lists
    from bilex.rerank.evidence import Evidence

OF = "of"
"""Key of the note with the hash of what decides the lists."""


class FoldFiles:
    """One file for each fold. One of other data or another version, or a damaged one, is made again.

    settings: those of the second stage and of the mappings of its folds, as plain values.
    """

    def __init__(self, folder: Path, evidence: Evidence, settings: dict[str, Any]) -> None:
        self._folder = folder
        self._words = Sides(*map(len, evidence.words))
        self._of = _digest(evidence, settings)

    def load(self, fold: int) -> Lists | None:
        """The lists of a fold; None if it is not finished."""
        with contextlib.suppress(OSError, ValueError):
            arrays, notes = read_arrays(fold_file(self._folder, fold))
            if notes.get(OF) == self._of:
                return lists_of(arrays, notes, self._words)[0]
        return None

    def save(self, fold: int, lists: Lists) -> None:
        """Write the lists of a fold. If that fails, they are made again after an interruption."""
        with contextlib.suppress(OSError):
            write_lists(fold_file(self._folder, fold), [lists], **{OF: self._of})


def fold_file(folder: Path, fold: int) -> Path:
    """The file of a fold."""
    return folder / FOLD_FILES.replace("*", str(fold))


def _digest(evidence: Evidence, settings: dict[str, Any]) -> str:
    """Of the settings, the pairs, and the mapped tables, of which the first rows tell enough."""
    found = hashlib.sha256(to_json({"version": version("bilex"), **settings}).encode())
    found.update(evidence.pairs.tobytes())
    for rows in evidence.rows:
        found.update(rows[:100].cpu().numpy().tobytes())
    return found.hexdigest()
