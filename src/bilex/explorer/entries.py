"""The induced lexicon as a list to review: one entry per source word, with its doubts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bilex.evaluation.hubness import describe, occurrences
from bilex.explorer.kinds import Kinds
from bilex.explorer.words import fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.entry import Entry
    from bilex.evaluation.hubness import Hubness
    from bilex.explorer.translations_cache import Best
    from bilex.explorer.words import WordIndex

Order = Literal["frequency", "word", "margin", "score", "confidence", "doubts", "useful"]
Hidden = Literal["nonwords", "names", "given"]
Doubt = Literal["low_margin", "one_sided", "hub"]
LOW_MARGIN_SHARE = 0.1
"""This share of the margins, the smallest ones, count as low."""
SHOWN = 5
"""Candidates shown with an entry; given translations are shown even if they are more."""
HUB_SIZE = 5
"""A target that is the best translation of at least this many source words is a hub."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which entries to list, and their order."""

    text: str = ""
    doubt: Doubt | Literal["any", ""] = ""
    min_score: float | None = None
    max_score: float | None = None
    """Bounds of the score."""
    min_margin: float | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    """Bounds of the confidence. An entry whose confidence is not known is within none."""
    min_rank: int | None = None
    max_rank: int | None = None
    """Bounds of the frequency rank, from 1."""
    script: str = ""
    hide: frozenset[Hidden] = frozenset()
    """Leave out tokens that are no words, names, or words that the dictionary has."""
    origin: Literal["given", "found", ""] = ""
    order: Order = "frequency"
    ascending: bool = True


class Entries:
    """Columns over all source words: the best target, its score, the margin to the second best, and the doubts.

    given: entries by row, which replace what was found. Such a row has the score of its first entry, an infinite
    margin and no doubts. confidence: (n, N), the confidence of the stored best translations; nan where it is not known.
    """

    def __init__(
        self,
        forward: Best,
        backward: Best,
        sources: WordIndex,
        targets: WordIndex,
        given: Mapping[int, Sequence[Entry]] | None = None,
        confidence: NDArray[np.float32] | None = None,
    ) -> None:
        scores = forward.scores.numpy()
        self.given = given or {}
        self.is_given = np.zeros(len(scores), dtype=bool)
        self.is_given[list(self.given)] = True
        self.found, self.found_scores = forward.rows, scores
        self.found_confidence = np.full_like(scores, np.nan) if confidence is None else confidence
        self.target: NDArray[np.int64] = forward.rows[:, 0].numpy().astype(np.int64)
        self.score = scores[:, 0].copy()
        self.margin = scores[:, 0] - scores[:, 1] if scores.shape[1] > 1 else np.zeros_like(scores[:, 0])
        self.score[list(self.given)] = [entries[0].score for entries in self.given.values()]
        self.margin[self.is_given] = np.inf
        self.confidence = self.found_confidence[:, 0].copy()
        self.confidence[list(self.given)] = [entries[0].confidence for entries in self.given.values()]
        self.kinds = Kinds(sources.words)
        self.mutual = backward.rows[:, 0].numpy()[self.target] == np.arange(len(scores))
        self.chosen = np.bincount(self.target, minlength=len(backward.rows))
        """For each target, the number of source words whose best translation it is."""
        self._words = sources, targets
        self._orders: dict[tuple[Order, bool], NDArray[np.int64]] = {}
        self._found_text: tuple[str, NDArray[np.bool_]] = ("", np.ones(len(scores), dtype=bool))

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def doubts(self) -> dict[Doubt, NDArray[np.bool_]]:
        """For each kind of doubt, a mask of the entries that have it."""
        margins = self.margin[~self.is_given]
        return {
            "low_margin": self.margin < (np.quantile(margins, LOW_MARGIN_SHARE) if len(margins) else -np.inf),
            "one_sided": ~self.mutual & ~self.is_given,
            "hub": (self.chosen[self.target] >= HUB_SIZE) & ~self.is_given,
        }

    @cached_property
    def doubt_count(self) -> NDArray[np.int64]:
        """The number of doubts of each entry."""
        count: NDArray[np.int64] = np.stack(list(self.doubts.values())).sum(axis=0, dtype=np.int64)
        return count

    @cached_property
    def hubness(self) -> Hubness:
        """Hubness of the targets over the stored best translations."""
        return describe(self.among_best, k=self.found.shape[1])

    @cached_property
    def among_best(self) -> Tensor:
        """How often each target is among the stored best translations."""
        return occurrences(self.found, len(self.chosen))

    def warm_up(self) -> None:
        """Compute the columns that filters, orders and the first page need."""
        for order in get_args(Order):
            self.ordered(order, ascending=True)
        for name in get_args(Hidden):
            self.hidden(name)
        self._containing(" ")
        self.kinds.scripts  # noqa: B018 (computed once)

    def select(self, wanted: Filter, keep: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Rows of the matching entries, in order; `keep` is a mask of the entries to consider."""
        mask = np.ones(len(self), dtype=bool) if keep is None else keep.copy()
        if wanted.doubt:
            mask &= self.doubt_count > 0 if wanted.doubt == "any" else self.doubts[wanted.doubt]
        for column, low, high in (
            (self.score, wanted.min_score, wanted.max_score),
            (self.margin, wanted.min_margin, None),
            (self.confidence, wanted.min_confidence, wanted.max_confidence),
        ):
            if low is not None:
                mask &= column >= low
            if high is not None:
                mask &= column <= high
        mask[: max(0, (wanted.min_rank or 1) - 1)] = False
        mask[wanted.max_rank or len(mask) :] = False
        if wanted.origin:
            mask &= self.is_given if wanted.origin == "given" else ~self.is_given
        if wanted.script:
            mask &= self.kinds.in_script(wanted.script)
        for name in wanted.hide:
            mask &= ~self.hidden(name)
        if wanted.text:
            mask &= self._containing(wanted.text)
        rows = self.ordered(wanted.order, ascending=wanted.ascending)
        selected: NDArray[np.int64] = rows[mask[rows]]
        return selected

    def hidden(self, name: Hidden) -> NDArray[np.bool_]:
        """Mask of the entries that the list leaves out under this name."""
        if name == "given":
            return self.is_given
        return self.kinds.nonword if name == "nonwords" else self.kinds.names

    @cached_property
    def usefulness(self) -> NDArray[np.float64]:
        """How useful a decision is: u / log₂(1 + rank), with u the probability of a correction; 0 for given entries.

        u = (1 − p₁) (1 − Π (1 − pⱼ)) over the other candidates j that are shown: the first one is wrong, and another is
        right. Where the confidences p are not known, u is the share of found entries with a larger margin.
        """
        found = np.flatnonzero(~self.is_given)
        by_margin = np.zeros(len(self))
        by_margin[found[np.argsort(-self.margin[found], kind="stable")]] = (np.arange(len(found)) + 1) / max(
            1, len(found)
        )
        wrong = 1 - self.found_confidence[:, :SHOWN].astype(np.float64)
        corrected = np.where(self.is_given, 0.0, wrong[:, 0] * (1 - wrong[:, 1:].prod(1)))
        useful: NDArray[np.float64] = np.where(np.isnan(corrected), by_margin, corrected)
        useful /= np.log2(np.arange(len(self)) + 2.0)
        return useful

    def hubs(self, n: int) -> list[dict[str, Any]]:
        """The targets that are most often among the best translations, with examples of source words."""
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

    def _containing(self, text: str) -> NDArray[np.bool_]:
        """Mask of the entries with this text in the source word or in a translation; the last one is kept."""
        found = self._found_text  # another thread may put another text in its place
        if found[0] != text:
            found = self._found_text = text, self._find_text(text)
        return found[1]

    def _find_text(self, text: str) -> NDArray[np.bool_]:
        sources, targets = (index.containing(text) for index in self._words)
        of_target = targets[self.target] & ~self.is_given
        folded = fold(text)
        for row, entries in self.given.items():
            of_target[row] = any(folded in fold(entry.target) for entry in entries)
        either: NDArray[np.bool_] = sources | of_target
        return either

    def ordered(self, order: Order, *, ascending: bool) -> NDArray[np.int64]:
        """All rows in this order; each order is sorted once."""
        if (order, ascending) not in self._orders:
            self._orders[order, ascending] = self._sort(order, ascending)
        return self._orders[order, ascending]

    def _sort(self, order: Order, ascending: bool) -> NDArray[np.int64]:
        if order == "frequency":
            rows = np.arange(len(self))
            return rows if ascending else rows[::-1]
        values = {
            "word": self._words[0].place,
            "margin": self.margin,
            "score": self.score,
            "confidence": self.confidence,
            "doubts": self.doubt_count,
        }.get(order)
        values = self.usefulness if values is None else values
        return np.argsort(values if ascending else -values, kind="stable")
