"""Letter case, digits and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Case(Signal):
    """Whether the candidate has capitals, whether the word has too, and whether both consist of letters only."""

    name = "case"
    summary = "capitals, digits and signs of both words"

    def fit(self, evidence: Evidence) -> Measure:
        """Collect the target words that are also there without capitals."""
        source, target = evidence.words
        vocabulary = frozenset(target)

        def measure(candidates: Candidates) -> Columns:
            rows, places = candidates.distinct
            words, translations = [source[i] for i in candidates.sources], [target[j] for j in rows]
            capital = _column(translations, has_capitals)[places]
            also_small = _column(translations, lambda w: has_capitals(w) and w.lower() in vocabulary)[places]
            same_kind = _column(words, str.isalpha)[:, None] == _column(translations, str.isalpha)[places]
            return {
                "capital": capital,
                "capital_alike": (_column(words, has_capitals)[:, None] == capital).astype(np.float64),
                "also_small": also_small,
                "letters_alike": same_kind.astype(np.float64),
            }

        return measure


def has_capitals(word: str) -> bool:
    """Whether a word has capital letters."""
    return word != word.lower()


def _column(words: Sequence[str], holds: Callable[[str], bool]) -> NDArray[np.float64]:
    return np.array([holds(word) for word in words], dtype=np.float64)
