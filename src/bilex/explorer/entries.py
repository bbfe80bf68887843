"""The induced lexicon as a list to go through: one entry for each source word, with what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bilex.evaluation.hubness import describe, occurrences

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.evaluation.hubness import Hubness
    from bilex.explorer.translations_cache import Best
    from bilex.explorer.words import WordIndex

Order = Literal["frequency", "margin", "score", "doubts"]
Doubt = Literal["low_margin", "one_sided", "hub"]
LOW = 0.1
"""A margin among this share of the smallest is low."""
HUB = 5
"""A target that is the best translation of so many source words is a hub."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which entries to list, and in which order."""

    text: str = ""
    doubt: Doubt | Literal["any", ""] = ""
    least: float | None = None
    most: float | None = None
    """Bounds of the score."""
    order: Order = "frequency"
    ascending: bool = True


class Entries:
    """Columns over all source words: the best target, its score, the margin to the second, and doubts."""

    def __init__(self, forward: Best, backward: Best, sources: WordIndex, targets: WordIndex) -> None:
        scores = forward.scores.numpy()
        self.found = forward.rows
        self.target: NDArray[np.int64] = forward.rows[:, 0].numpy().astype(np.int64)
        self.score = scores[:, 0]
        self.margin = scores[:, 0] - scores[:, 1] if scores.shape[1] > 1 else np.zeros_like(scores[:, 0])
        self.mutual = backward.rows[:, 0].numpy()[self.target] == np.arange(len(scores))
        self.chosen = np.bincount(self.target, minlength=len(backward.rows))
        """How many source words each target is the best translation of."""
        self._words = sources, targets
        self._orders: dict[tuple[Order, bool], NDArray[np.int64]] = {}

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def doubts(self) -> dict[Doubt, NDArray[np.bool_]]:
        """Which entries there is which doubt about."""
        return {
            "low_margin": self.margin < np.quantile(self.margin, LOW),
            "one_sided": ~self.mutual,
            "hub": self.chosen[self.target] >= HUB,
        }

    @cached_property
    def doubt_count(self) -> NDArray[np.int64]:
        """How many doubts there are about each entry."""
        count: NDArray[np.int64] = np.stack(list(self.doubts.values())).sum(axis=0, dtype=np.int64)
        return count

    @cached_property
    def hubness(self) -> Hubness:
        """How unevenly targets are among the best translations kept."""
        return describe(self.among_best, k=self.found.shape[1])

    @cached_property
    def among_best(self) -> Tensor:
        """How often each target is among them."""
        return occurrences(self.found, len(self.chosen))

    def select(self, wanted: Filter, keep: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Rows of the entries that fit, in order; `keep` says of each entry whether it may."""
        mask = np.ones(len(self), dtype=bool) if keep is None else keep.copy()
        if wanted.doubt:
            mask &= self.doubt_count > 0 if wanted.doubt == "any" else self.doubts[wanted.doubt]
        if wanted.least is not None:
            mask &= self.score >= wanted.least
        if wanted.most is not None:
            mask &= self.score <= wanted.most
        if wanted.text:
            sources, targets = (index.containing(wanted.text) for index in self._words)
            mask &= sources | targets[self.target]
        rows = self._ordered(wanted.order, wanted.ascending)
        fitting: NDArray[np.int64] = rows[mask[rows]]
        return fitting

    def hubs(self, n: int) -> list[dict[str, Any]]:
        """The targets that are most often among the best translations, with the words they are the best of."""
        counts = self.among_best.numpy()
        top = np.argsort(-counts, kind="stable")[:n]
        return [
            {
                "row": row,
                "among_best": int(counts[row]),
                "best_of": int(self.chosen[row]),
                "examples": np.flatnonzero(self.target == row)[:5].tolist(),
            }
            for row in top.tolist()
        ]

    def _ordered(self, order: Order, ascending: bool) -> NDArray[np.int64]:
        """All rows in an order; sorted once."""
        if (order, ascending) not in self._orders:
            self._orders[order, ascending] = self._sort(order, ascending)
        return self._orders[order, ascending]

    def _sort(self, order: Order, ascending: bool) -> NDArray[np.int64]:
        if order == "frequency":
            rows = np.arange(len(self))
            return rows if ascending else rows[::-1]
        values = {"margin": self.margin, "score": self.score, "doubts": self.doubt_count}[order]
        return np.argsort(values if ascending else -values, kind="stable")
