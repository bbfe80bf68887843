"""Fit a second stage to cross-fitted lists, and decide whether it is worth using."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.any_right import AnyRight
from bilex.rerank.calibration import Calibration
from bilex.rerank.cross_fitting import Lists, cross_fit
from bilex.rerank.ranker import LinearRanker
from bilex.rerank.reranker import RETRIEVAL, Reranker
from bilex.rerank.signals import SIGNALS
from bilex.rerank.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bilex.rerank.cross_fitting import Fit, SavedFolds
    from bilex.rerank.evidence import Evidence


@dataclass(frozen=True, kw_only=True)
class SecondStage:
    """Settings of the second stage."""

    candidates: int = 20
    """Candidates of each word that are ranked."""
    folds: int = 3
    """Parts of the dictionary; each is ranked by a mapping that was trained on the others."""
    ridge: float = 3.0
    """Penalty of the squared weights."""
    without: tuple[str, ...] = ()
    """Signals that are left out."""
    min_words: int = 150
    """With fewer source words, there is no second stage."""
    min_gain: float = 2.0
    """The gain in P@1 on held-out words, in standard errors, below which there is no second stage."""

    def fit(self, fit: Fit, evidence: Evidence, *, rng_seed: int, saved: SavedFolds | None = None) -> Reranker | None:
        """Learn from the train pairs; None if there are too few, or if the vectors alone are as good.

        fit: fits a mapping to some of the pairs; evidence: that of the mapping of all pairs; saved: finished folds.
        """
        if len(evidence.sources) < self.min_words:
            return None
        reasons = {name: SIGNALS[name].unsuitable(evidence) for name in SIGNALS if name not in self.without}
        names = tuple(name for name, reason in reasons.items() if reason is None)
        lists = cross_fit(
            fit,
            evidence,
            [SIGNALS[name] for name in names],
            folds=self.folds,
            candidates=self.candidates,
            retrieval=RETRIEVAL,
            rng_seed=rng_seed,
            saved=saved,
        )
        reranker = self.learn(names, lists, {name: reason for name, reason in reasons.items() if reason})
        return reranker if reranker.summary.gain > self.min_gain * reranker.summary.standard_error else None

    def learn(
        self,
        signals: tuple[str, ...],
        lists: Sequence[Lists],
        left_out: dict[str, str],
        decided: Lists | None = None,
    ) -> Reranker:
        """From the lists of each fold. The calibration learns from scores of words that the ranker has not seen.

        decided: words that people have decided about. They are a fold of their own, which the summary leaves out, since
        people choose what they decide about.
        """
        folds = [*lists, *([] if decided is None else [decided])]
        together = Lists.joined(folds)
        scores = np.concatenate(
            [
                self._ranker(Lists.joined([*folds[:fold], *folds[fold + 1 :]])).scores(held_out.features)
                for fold, held_out in enumerate(folds)
            ]
        )
        calibration = Calibration.fit(scores, together)
        held_out = np.concatenate([self._held_out(folds, fold, scores) for fold in range(len(lists))])
        own = Lists.joined(lists)
        own_scores = scores[: len(own.sources)]
        order = np.argsort(-own_scores, axis=1, kind="stable")
        best_first = (np.take_along_axis(array, order, axis=1) for array in (held_out, own.gold))
        return Reranker(
            signals=signals,
            candidates=self.candidates,
            ranker=self._ranker(together),
            calibration=calibration,
            any_right=AnyRight.fit(*best_first),
            summary=Summary.of(own_scores, held_out, own.gold, own.total, left_out),
            lists=tuple(lists),
        )

    def _ranker(self, lists: Lists) -> LinearRanker:
        return LinearRanker.fit(lists.names, lists.features, lists.gold, ridge=self.ridge)

    def _held_out(self, lists: Sequence[Lists], fold: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of one fold by a calibration that has learnt from the others.  scores: those of all folds."""
        numbers = np.repeat(np.arange(len(lists)), [len(part.sources) for part in lists])
        rest, own = numbers != fold, numbers == fold
        others = Lists.joined([*lists[:fold], *lists[fold + 1 :]])
        calibration = Calibration.fit(scores[rest], others)
        return calibration.probabilities(scores[own], lists[fold].csls, lists[fold].sources, lists[fold].targets)
