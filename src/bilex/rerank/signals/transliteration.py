"""Names and loanwords, in one script or in two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.letters import Alphabet, plain
from bilex.rerank.signals.base import Columns, Measure, Signal
from bilex.rerank.transducer import Transducer

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence

MAX_ALPHABET = 400
"""With more letters, as in Chinese, a transducer of letters means nothing."""
LEAST, MOST = -30.0, 60.0
"""Log-odds are clipped."""


class Transliteration(Signal):
    """log [p(q, c) / (p(q) p(c))] under a transducer of letters: as it is, above 0 only, and per letter."""

    name = "transliteration"
    summary = "letters that correspond, learnt from the dictionary"

    def unsuitable(self, evidence: Evidence) -> str | None:
        """Scripts that are not alphabets."""
        letters = [
            {c for i in rows for c in plain(words[i])}
            for words, rows in zip(evidence.words, (evidence.sources, evidence.targets), strict=True)
        ]
        most = max(map(len, letters))
        return None if most <= MAX_ALPHABET else f"a language is written with more than {MAX_ALPHABET} letters"

    def fit(self, evidence: Evidence) -> Measure:
        """Learn the transducer from the pairs."""
        source, target = evidence.words
        first, second = (
            [plain(words[i]) for i in evidence.pairs[:, side]] for side, words in enumerate(evidence.words)
        )
        own, other = Alphabet(first), Alphabet(second)
        same = np.zeros((len(own), len(other)))
        for letter, number in own.numbers.items():
            if letter in other.numbers:
                same[number, other.numbers[letter]] = 1
        transducer = Transducer.fit(own.encode(first), other.encode(second), same)

        def measure(candidates: Candidates) -> Columns:
            words = own.encode([plain(source[i]) for i in candidates.sources])
            translations = other.encode([plain(target[j]) for j in candidates.distinct[0]])
            pairs = candidates.pairs()
            a, b = words.take(pairs[0]), translations.take(pairs[1])
            odds = transducer.log_odds(a, b)
            clipped = np.clip(odds, LEAST, MOST).reshape(candidates.shape)
            per_letter = (odds / np.maximum((a.lengths + b.lengths) / 2, 1)).reshape(candidates.shape)
            return {"odds": clipped, "positive": np.maximum(clipped, 0), "per_letter": per_letter}

        return measure
