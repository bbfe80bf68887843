"""The second stage, fitted: the order of the candidates, and a probability for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from bilex.errors import AlignmentError
from bilex.rerank.candidates import find_candidates, search_backward
from bilex.rerank.features import Features
from bilex.rerank.signals import SIGNALS
from bilex.retrieval import CSLS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.rerank.any_right import AnyRight
    from bilex.rerank.calibration import Calibration
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.cross_fitting import Lists
    from bilex.rerank.evidence import Evidence
    from bilex.rerank.ranker import LinearRanker
    from bilex.rerank.summary import Summary
    from bilex.retrieval import Index
    from bilex.search.blocks import Progress

RETRIEVAL = CSLS()
"""How candidates are found."""
WORDS = 8192
"""Words ranked at a time, to limit memory."""


class Ranked(NamedTuple):
    """Candidates of q source words in their final order, (q, c) each: rows, CSLS scores, probabilities."""

    targets: NDArray[np.int64]
    scores: NDArray[np.float64]
    confidences: NDArray[np.float64]
    any_right: NDArray[np.float64]
    """The probability that one of the first n candidates is right, for each n up to the number that is ranked."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Decided:
    """Decisions that a second stage was learnt from, besides the dictionary."""

    words: int
    """Source words that were decided about."""
    pairs: NDArray[np.int64]
    """The pairs of the dictionary with the right ones, without the refused ones: (p, 2). Signals are fitted to them."""
    before: Reranker
    """The stage that was learnt from the dictionary alone."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reranker:
    """Which signals are used, the weights of their columns, and the calibration."""

    signals: tuple[str, ...]
    candidates: int
    """Candidates of each word that are ranked; those below keep their place."""
    ranker: LinearRanker
    calibration: Calibration
    any_right: AnyRight
    summary: Summary
    """How well it ranks words that were held out."""
    lists: tuple[Lists, ...] = ()
    """What it was learnt from, fold by fold; empty if that is not known."""
    decided: Decided | None = None
    """What people have decided, if it was learnt from that too."""

    @property
    def original(self) -> Reranker:
        """The stage that was learnt from the dictionary alone."""
        return self if self.decided is None else self.decided.before

    def bind(self, evidence: Evidence) -> BoundReranker:
        """Ready to rank: the signals fitted to one mapping and its pairs."""
        return BoundReranker(self, Features.fit([SIGNALS[name] for name in self.signals], evidence))


@dataclass(frozen=True, eq=False)
class BoundReranker:
    """A reranker with its signals."""

    reranker: Reranker
    features: Features

    def rank(
        self,
        index: Index,
        rows: NDArray[np.int64],
        n: int,
        *,
        first: int | None = None,
        progress: Progress | None = None,
    ) -> Ranked:
        """The n best candidates of source rows (q,); with `first`, among the first words of the target table.

        At least `candidates` are searched for each word. If n is larger, the others follow with probability 0.
        """
        count, backward = max(self.reranker.candidates, n), None
        if len(rows) > WORDS:  # most targets are candidates of some word: search back from each of them once
            index.prepare(progress=progress)
            targets = torch.arange(min(len(index.z), first or len(index.z)), device=index.z.device)
            backward = search_backward(index, targets, first=first, progress=progress)
        parts = [
            self._rank(find_candidates(index, block, count, first=first, backward=backward, progress=progress))
            for block in (rows[start : start + WORDS] for start in range(0, len(rows), WORDS))
        ]
        if not parts:
            empty = np.empty((0, min(n, len(index.z))))
            return Ranked(empty.astype(np.int64), empty, empty, empty)
        found = Ranked(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        return Ranked(found.targets[:, :n], found.scores[:, :n], found.confidences[:, :n], found.any_right)

    def shares(self, index: Index, row: int) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
        """Why the candidates of a source row are ranked as they are: their rows (c,), and shares of each signal (c,).

        The shares of a candidate sum to its score, less the mean score of all. The share of a signal is less its mean
        too: what is the same for all candidates has no effect on their order.
        """
        candidates = find_candidates(index, np.array([row]), self.reranker.candidates)
        columns = self.reranker.ranker.shares(self._columns(candidates))[0]
        signals = np.array([name.partition(".")[0] for name in self.reranker.ranker.names])
        sums = {signal: columns[:, signals == signal].sum(1) for signal in self.reranker.signals}
        order = np.argsort(-columns.sum(1), kind="stable")
        return candidates.targets[0, order], {signal: (s - s.mean())[order] for signal, s in sums.items()}

    def _columns(self, candidates: Candidates) -> NDArray[np.float64]:
        """All columns, (q, c, f), which must be those that the ranker was fitted to."""
        names, columns = self.features.stacked(candidates)
        if names != self.reranker.ranker.names:
            raise AlignmentError(
                "the second stage was made by another version of bilex, whose signals have other columns; align again, "
                "or rank by the vectors alone: `vectors_only=True`"
            )
        return columns

    def _rank(self, candidates: Candidates) -> Ranked:
        head = candidates.head(self.reranker.candidates)
        scores = self.reranker.ranker.scores(self._columns(head))
        confidences = self.reranker.calibration.probabilities(scores, head.scores, head.sources, head.targets)
        order = np.argsort(-scores, axis=1, kind="stable")
        confidences = np.take_along_axis(confidences, order, axis=1)
        any_right = self.reranker.any_right.probabilities(confidences)
        rest = candidates.shape[1] - head.shape[1]
        order = np.hstack([order, np.tile(np.arange(head.shape[1], candidates.shape[1]), (len(order), 1))])
        return Ranked(
            targets=np.take_along_axis(candidates.targets, order, axis=1),
            scores=np.take_along_axis(candidates.scores, order, axis=1),
            confidences=np.pad(confidences, ((0, 0), (0, rest))),
            any_right=np.pad(any_right, ((0, 0), (0, rest)), mode="edge"),
        )
