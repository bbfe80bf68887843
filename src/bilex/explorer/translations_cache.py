"""The best translations of every word in both directions, computed once and cached in the run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from bilex.retrieval.sides import Sides
from bilex.run.cache import Cache
from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import Tensor

    from bilex.rerank.reranker import BoundReranker
    from bilex.retrieval import CSLS, Index
    from bilex.retrieval.sides import Direction
    from bilex.search.blocks import Progress

DIRECTIONS: tuple[Direction, Direction] = ("forward", "backward")
N = 10
"""Translations stored for each word."""
FORMS = {"rows": ArrayForm(("words", "n"), "int32"), "scores": ArrayForm(("words", "n"))}
RANKED_FORMS = {**FORMS, "confidences": ArrayForm(("words", "n"))}


class Best(NamedTuple):
    """Rows and scores of the best translations of each word of a table, (n, N), best first."""

    rows: Tensor
    scores: Tensor


class RankedBest(NamedTuple):
    """The best translations of each source word by the second stage, (n, N), with their CSLS scores and confidences."""

    rows: Tensor
    scores: Tensor
    confidences: Tensor


class Induced:
    """The translations in RUN/cache. If the folder cannot be written to, they are in memory only.

    stage: makes the second stage; None if the run has none for this retrieval.
    """

    def __init__(
        self,
        index: Index,
        retrieval: CSLS,
        folder: Path | None,
        stage: Callable[[], BoundReranker | None] | None = None,
    ) -> None:
        self.index, self._stage = index, stage
        self.ranked: RankedBest | None = None
        self._cache = None if folder is None else Cache(folder)
        self._name = f"explore-{retrieval.name}-k={retrieval.k}"
        self.best: dict[Direction, Best] = {}
        for direction in DIRECTIONS:
            self._read(direction)
        if stage is not None:
            self._read_ranked()

    @property
    def ready(self) -> bool:
        """Whether all that `find` computes is known."""
        return len(self.best) == len(DIRECTIONS) and (self._stage is None or self.ranked is not None)

    def find(self, progress: Progress | None = None) -> None:
        """Search for the translations of every word, unless they are in the cache."""
        if len(self.best) < len(DIRECTIONS):
            for direction, found in zip(DIRECTIONS, self.index.topk_both(N, progress=progress), strict=True):
                best = Best(found.indices.int().cpu(), found.values.cpu())
                self._write(direction, best)
                self.best[direction] = best
        stage = self._stage() if self._stage and self.ranked is None else None
        if stage is not None:
            ranked = stage.rank(self.index, np.arange(len(self.index.x)), N, progress=progress)
            rows, scores, confidences = map(torch.from_numpy, (ranked.targets, ranked.scores, ranked.confidences))
            self.ranked = RankedBest(rows.int(), scores.float(), confidences.float())
            self._write("ranked", self.ranked)

    def _read_ranked(self) -> None:
        sizes = {"words": len(self.index.x), "n": min(N, len(self.index.z))}
        arrays = self._cache and self._cache.read(f"{self._name}.ranked", RANKED_FORMS, sizes)
        if arrays and 0 <= int(arrays["rows"].min()) <= int(arrays["rows"].max()) < len(self.index.z):
            self.ranked = RankedBest(arrays["rows"], arrays["scores"], arrays["confidences"])

    def _read(self, direction: Direction) -> None:
        queries, candidates = Sides(self.index.x, self.index.z).along(direction)
        sizes = {"words": len(queries), "n": min(N, len(candidates))}
        arrays = self._cache and self._cache.read(f"{self._name}.{direction}", FORMS, sizes)
        if arrays and 0 <= int(arrays["rows"].min()) <= int(arrays["rows"].max()) < len(candidates):
            self.best[direction] = Best(arrays["rows"], arrays["scores"])

    def _write(self, name: str, best: Best | RankedBest) -> None:
        if self._cache is not None:
            self._cache.write(f"{self._name}.{name}", best._asdict())
