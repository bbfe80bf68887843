"""The best translations of every word in both directions, computed once and cached in the run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bilex.retrieval.sides import Sides
from bilex.run.cache import Cache
from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from bilex.retrieval import CSLS, Index
    from bilex.retrieval.sides import Direction
    from bilex.search.blocks import Progress

DIRECTIONS: tuple[Direction, Direction] = ("forward", "backward")
N = 10
"""Translations stored for each word."""
FORMS = {"rows": ArrayForm(("words", "n"), "int32"), "scores": ArrayForm(("words", "n"))}


class Best(NamedTuple):
    """Rows and scores of the best translations of each word of a table, (n, N), best first."""

    rows: Tensor
    scores: Tensor


class Induced:
    """The translations in RUN/cache. If the folder cannot be written to, they are in memory only."""

    def __init__(self, index: Index, retrieval: CSLS, folder: Path | None) -> None:
        self.index = index
        self._cache = None if folder is None else Cache(folder)
        self._name = f"explore-{retrieval.name}-k={retrieval.k}"
        self.best: dict[Direction, Best] = {}
        for direction in DIRECTIONS:
            self._read(direction)

    def find(self, progress: Progress | None = None) -> None:
        """Search for the translations of every word, unless they are in the cache."""
        if len(self.best) == len(DIRECTIONS):
            return
        for direction, found in zip(DIRECTIONS, self.index.topk_both(N, progress=progress), strict=True):
            best = Best(found.indices.int().cpu(), found.values.cpu())
            self._write(direction, best)
            self.best[direction] = best

    def _read(self, direction: Direction) -> None:
        queries, candidates = Sides(self.index.x, self.index.z).along(direction)
        sizes = {"words": len(queries), "n": min(N, len(candidates))}
        arrays = self._cache and self._cache.read(f"{self._name}.{direction}", FORMS, sizes)
        if arrays and 0 <= int(arrays["rows"].min()) <= int(arrays["rows"].max()) < len(candidates):
            self.best[direction] = Best(arrays["rows"], arrays["scores"])

    def _write(self, direction: Direction, best: Best) -> None:
        if self._cache is not None:
            self._cache.write(f"{self._name}.{direction}", best._asdict())
