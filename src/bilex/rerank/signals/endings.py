"""Pairs of endings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.letters import plain
from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence

SIZES = (1, 2, 3)
"""Letters of an ending."""
PRIOR = 4.0
"""Pairs of a source ending that the chance of a target ending counts as."""


class Endings(Signal):
    """Which endings belong together, such as -ly and -ment, and which the dictionary lists at all.

    For endings e of q and f of c, with counts over the pairs: log [(n(e, f) + κ p(f)) / ((n(e) + κ) p(f))], p(f) the
    share of f among the pairs; and log [p(f) / share of f among all words]. The mean over 1, 2 and 3 letters.
    """

    name = "endings"
    summary = "pairs of endings that the dictionary has, and endings that it lists"

    def fit(self, evidence: Evidence) -> Measure:
        """Count the endings of the pairs, and those of the target table."""
        source, target = evidence.words
        counts = [_Counts(evidence, size) for size in SIZES]

        def measure(candidates: Candidates) -> Columns:
            rows, places = candidates.distinct
            words = [plain(source[i]) for i in candidates.sources]
            translations = [plain(target[j]) for j in rows]
            pairs = candidates.pairs()
            together = np.mean([count.together(words, translations, pairs) for count in counts], axis=0)
            listed = np.mean([count.listed(translations) for count in counts], axis=0)
            return {"together": together.reshape(candidates.shape), "listed": listed[places]}

        return measure


class _Counts:
    """Counts of endings of one size."""

    def __init__(self, evidence: Evidence, size: int) -> None:
        source, target = evidence.words
        ends = [(plain(source[i])[-size:], plain(target[j])[-size:]) for i, j in evidence.pairs.tolist()]
        self._size, self._total, self._words = size, len(ends), len(target)
        self._pairs, self._sources, self._targets = (
            Counter(ends),
            Counter(e for e, _ in ends),
            Counter(f for _, f in ends),
        )
        self._all = Counter(plain(word)[-size:] for word in target)

    def together(
        self, words: list[str], translations: list[str], pairs: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> NDArray[np.float64]:
        """How much more often the endings are a pair than by chance: (p,)."""
        sources, targets = [w[-self._size :] for w in words], [w[-self._size :] for w in translations]
        shares = np.array([self._share(f) for f in targets])[pairs[1]]
        of_source = np.array([self._sources[e] for e in sources])[pairs[0]]
        keys = ((sources[i], targets[j]) for i, j in zip(*(place.tolist() for place in pairs), strict=True))
        both = np.array([self._pairs[key] for key in keys])
        odds: NDArray[np.float64] = np.log((both + PRIOR * shares) / ((of_source + PRIOR) * shares))
        return odds

    def listed(self, translations: list[str]) -> NDArray[np.float64]:
        """How much more often the ending is in the dictionary than among all words: (n,)."""
        ends = [word[-self._size :] for word in translations]
        odds: NDArray[np.float64] = np.log([self._share(f) / self._overall(f) for f in ends])
        return odds

    def _share(self, end: str) -> float:
        return (self._targets[end] + PRIOR * (self._all[end] + 1) / (self._words + 1)) / (self._total + PRIOR)

    def _overall(self, end: str) -> float:
        return (self._all[end] + PRIOR) / (self._words + PRIOR)
