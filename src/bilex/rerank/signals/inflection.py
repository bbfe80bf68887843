"""Other forms of the candidate among the candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.letters import MAX_LETTERS, Alphabet, plain
from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence

SHARE = 0.6
"""Of the longer word: two words have one stem if they begin with as many common letters, at least `LEAST`."""
LEAST = 3


class Inflection(Signal):
    """Among candidates of the same stem: whether one is more frequent than this one, and log(1 + number of others)."""

    name = "inflection"
    summary = "whether a more frequent form of the candidate is among the candidates"

    def fit(self, evidence: Evidence) -> Measure:
        """Nothing is learnt."""
        target = evidence.words.target

        def measure(candidates: Candidates) -> Columns:
            rows, places = candidates.distinct
            translations = [plain(target[j]) for j in rows]
            encoded = Alphabet(translations).encode(translations)
            letters, lengths = encoded.letters[places], encoded.lengths[places]
            more_frequent = np.zeros(candidates.shape)
            others = np.zeros(candidates.shape)
            for j in range(candidates.shape[1]):
                same = _same_stem(letters, lengths, j)
                others[:, j] = same.sum(1)
                more_frequent[:, j] = (same & (candidates.targets < candidates.targets[:, j : j + 1])).any(1)
            return {"more_frequent": more_frequent, "forms": np.log1p(others)}

        return measure


def _same_stem(letters: NDArray[np.int32], lengths: NDArray[np.int64], j: int) -> NDArray[np.bool_]:
    """Which candidates have the same stem as the j-th: (q, c).  letters: (q, c, `MAX_LETTERS`), lengths: (q, c)."""
    longest = np.maximum(lengths, lengths[:, j : j + 1])
    needed = np.maximum(np.ceil(SHARE * longest), LEAST).astype(np.int64)
    beginnings = np.arange(MAX_LETTERS) >= needed[:, :, None]
    same: NDArray[np.bool_] = ((letters == letters[:, j : j + 1]) | beginnings).all(2)
    same &= np.minimum(lengths, lengths[:, j : j + 1]) > LEAST
    same[:, j] = False
    return same
