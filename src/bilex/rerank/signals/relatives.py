"""What words of the dictionary with a similar spelling and meaning are translated to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from bilex.rerank.letters import plain
from bilex.rerank.ngrams import Ngrams, row_products
from bilex.rerank.signals.base import Columns, Measure, Signal

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence

LEAST = 0.12
"""Words of the dictionary that are less similar are no relatives."""
WORDS = 1024
"""Words at a time."""


class Relatives(Signal):
    """How much the candidate is spelt like the translations of related words: walk → kävellä, so walking → kävely.

    Similarity of two source words: w(q, i) = max(0, cos of the vectors) · cos of the 3- and 4-grams, 0 below `LEAST`.
    Columns: Σᵢ w(q, i) cos(c, tᵢ), and the same divided by Σᵢ w(q, i), where tᵢ is the mean of the n-gram vectors of
    the translations of i. The word itself is no relative.
    """

    name = "relatives"
    summary = "spelt like the translations of related words of the dictionary"

    def fit(self, evidence: Evidence) -> Measure:
        """The n-grams of the words of the dictionary, and of their translations."""
        from scipy import sparse

        source, target = evidence.words
        own = Ngrams([plain(source[i]) for i in evidence.sources], (3, 4))
        others = Ngrams([plain(target[j]) for j in evidence.targets], (1, 2, 3))
        translations = _means(evidence) @ others.matrix
        x = evidence.rows.source
        known = x[torch.from_numpy(evidence.sources)]

        def relatives(sources: NDArray[np.int64]) -> sparse.csr_array:
            alike = (own.vectors(plain(source[i]) for i in sources) @ own.matrix.T).tocoo()
            cosines = (x[torch.from_numpy(sources)] @ known.T).cpu().numpy()
            weights = alike.data * np.maximum(cosines[alike.row, alike.col], 0)
            related = (weights >= LEAST) & (sources[alike.row] != evidence.sources[alike.col])
            shape = (len(sources), len(known))
            return sparse.csr_array((weights[related], (alike.row[related], alike.col[related])), shape=shape)

        def measure(candidates: Candidates) -> Columns:
            starts = range(0, len(candidates.sources), WORDS)
            weights = sparse.vstack([relatives(candidates.sources[i : i + WORDS]) for i in starts], format="csr")
            vectors = others.vectors(plain(target[j]) for j in candidates.distinct[0])
            alike = row_products((weights @ translations).tocsr(), vectors, candidates.pairs())
            alike = alike.reshape(candidates.shape)
            return {"sum": alike, "mean": alike / np.maximum(weights.sum(1), 0.05)[:, None]}

        return measure


def _means(evidence: Evidence) -> sparse.csr_array:
    """The mean over the translations of each source word: (s, t)."""
    from scipy import sparse

    rows = np.searchsorted(evidence.sources, evidence.pairs[:, 0])
    columns = np.searchsorted(evidence.targets, evidence.pairs[:, 1])
    shape = (len(evidence.sources), len(evidence.targets))
    return sparse.csr_array((1 / np.bincount(rows)[rows], (rows, columns)), shape=shape)
