"""Similar spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.letters import Alphabet, edit_distance, plain, script
from bilex.rerank.ngrams import Ngrams, row_products
from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence


class Spelling(Signal):
    """Both words in lower case without accents: 1 − distance / length, cosine of n-grams, common beginning, lengths.

    distance: Levenshtein's; length: of the longer word.
    """

    name = "spelling"
    summary = "edit distance, common letters and beginnings"

    def unsuitable(self, evidence: Evidence) -> str | None:
        """Languages that are written in different scripts."""
        source, target = map(script, evidence.words)
        return (
            None
            if source == target
            else f"the source words are in {source.title()}, the target words in {target.title()} script"
        )

    def fit(self, evidence: Evidence) -> Measure:
        """Weigh n-grams by how rare they are in the dictionary."""
        source, target = evidence.words
        ngrams = Ngrams([plain(target[j]) for j in evidence.targets], (2, 3))

        def measure(candidates: Candidates) -> Columns:
            words = [plain(source[i]) for i in candidates.sources]
            translations = [plain(target[j]) for j in candidates.distinct[0]]
            pairs, alphabet = candidates.pairs(), Alphabet([*words, *translations])
            first, second = alphabet.encode(words).take(pairs[0]), alphabet.encode(translations).take(pairs[1])
            longest = np.maximum(np.maximum(first.lengths, second.lengths), 1)
            common = np.cumprod((first.letters == second.letters) & (first.letters > 0), axis=1).sum(1)
            columns = {
                "edit": 1 - edit_distance(first, second) / longest,
                "ngrams": row_products(ngrams.vectors(words), ngrams.vectors(translations), pairs),
                "beginning": common / np.maximum(np.minimum(first.lengths, second.lengths), 1),
                "lengths": -np.abs(np.log((1 + first.lengths) / (1 + second.lengths))),
            }
            return {name: column.reshape(candidates.shape) for name, column in columns.items()}

        return measure
