"""The best translations of every word in both directions, computed once and cached in the run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from bilex.retrieval.sides import Sides
from bilex.run.cache import Cache
from bilex.run.reranker_file import digest
from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import Tensor

    from bilex.rerank.reranker import BoundReranker, Reranker
    from bilex.retrieval import CSLS, Index
    from bilex.retrieval.sides import Direction
    from bilex.search.blocks import Progress

DIRECTIONS: tuple[Direction, Direction] = ("forward", "backward")
N = 10
"""Translations stored for each word."""
FORMS = {"rows": ArrayForm(("words", "n"), "int32"), "scores": ArrayForm(("words", "n"))}
RANKED_FORMS = {**FORMS, "confidences": ArrayForm(("words", "n")), "stage": ArrayForm((32,), "uint8")}
"""stage: the hash of the second stage, for it may have learnt from decisions since."""
FIRST = 4096
"""Words that are ranked at once when the second stage has learnt from decisions."""


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

    reranker: the second stage; None if the run has none for this retrieval. stage: makes it ready to rank.
    """

    def __init__(
        self,
        index: Index,
        retrieval: CSLS,
        folder: Path | None,
        reranker: Reranker | None = None,
        stage: Callable[[], BoundReranker | None] = lambda: None,
    ) -> None:
        self.index, self._reranker, self._stage = index, reranker, stage
        self.ranked: RankedBest | None = None
        self._ranked_rows = 0
        self._cache = None if folder is None else Cache(folder)
        self._name = f"explore-{retrieval.name}-k={retrieval.k}"
        self.best: dict[Direction, Best] = {}
        for direction in DIRECTIONS:
            self._read(direction)
        if reranker is not None:
            self._digest = torch.frombuffer(bytearray(digest(reranker)), dtype=torch.uint8)
            self._ranked_name = f"{self._name}.{'ranked' if reranker.decided is None else 'ranked-with-decisions'}"
            self._read_ranked()

    @property
    def ready(self) -> bool:
        """Whether there are translations of all words, by the second stage if there is one."""
        return len(self.best) == len(DIRECTIONS) and (self._reranker is None or self.ranked is not None)

    def find(self, progress: Progress | None = None) -> None:
        """Search for the translations of every word, unless they are in the cache."""
        if len(self.best) < len(DIRECTIONS):
            for direction, found in zip(DIRECTIONS, self.index.topk_both(N, progress=progress), strict=True):
                best = Best(found.indices.int().cpu(), found.values.cpu())
                self._write(f"{self._name}.{direction}", best._asdict())
                self.best[direction] = best
        if self._reranker is not None and self._ranked_rows < len(self.index.x):
            self._rank(self.ranked, len(self.index.x), progress)
            assert self.ranked is not None
            self._write(self._ranked_name, {**self.ranked._asdict(), "stage": self._digest})

    def find_first(self, before: RankedBest, progress: Progress | None = None) -> None:
        """Rank the most frequent words; the others have the translations of another stage until `find` is called."""
        if self.ranked is None:
            self._rank(before, min(FIRST, len(self.index.x)), progress)

    def _rank(self, others: RankedBest | None, end: int, progress: Progress | None) -> None:
        """Rank the words up to row `end` that are not ranked yet. The others stay as they are."""
        stage = self._stage()
        assert stage is not None
        found = stage.rank(self.index, np.arange(self._ranked_rows, end), N, progress=progress)
        rows, scores, confidences = map(torch.from_numpy, (found.targets, found.scores, found.confidences))
        new = RankedBest(rows.int(), scores.float(), confidences.float())
        if others is not None:
            place = self._ranked_rows
            new = RankedBest(*(torch.cat([old[:place], own, old[end:]]) for old, own in zip(others, new, strict=True)))
        self.ranked, self._ranked_rows = new, end

    def _read_ranked(self) -> None:
        sizes = {"words": len(self.index.x), "n": min(N, len(self.index.z))}
        arrays = self._cache and self._cache.read(self._ranked_name, RANKED_FORMS, sizes)
        if not arrays or not torch.equal(arrays.pop("stage"), self._digest):
            return
        if 0 <= int(arrays["rows"].min()) <= int(arrays["rows"].max()) < len(self.index.z):
            self.ranked = RankedBest(arrays["rows"], arrays["scores"], arrays["confidences"])
            self._ranked_rows = len(self.index.x)

    def _read(self, direction: Direction) -> None:
        queries, candidates = Sides(self.index.x, self.index.z).along(direction)
        sizes = {"words": len(queries), "n": min(N, len(candidates))}
        arrays = self._cache and self._cache.read(f"{self._name}.{direction}", FORMS, sizes)
        if arrays and 0 <= int(arrays["rows"].min()) <= int(arrays["rows"].max()) < len(candidates):
            self.best[direction] = Best(arrays["rows"], arrays["scores"])

    def _write(self, name: str, arrays: dict[str, Tensor]) -> None:
        if self._cache is not None:
            self._cache.write(name, arrays)
