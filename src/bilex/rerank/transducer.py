"""A transducer of letters, learnt from pairs of words of which only some are spelt by the same sounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bilex.rerank.letters import blocks_by_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.rerank.letters import Encoded

ITERATIONS = 10
START_SHARE = 0.3
"""Share of related pairs before the first iteration."""
PRIOR = 5.0
"""Pseudo-counts of all deletions and of all insertions; substitutions have twenty times as many."""


@dataclass(frozen=True, eq=False)
class Transducer:
    """p(a, b) = Σ over alignments of Π s(aᵢ, bⱼ), d(aᵢ), i(bⱼ): substitutions, deletions, insertions.

    A pair of words is either related, with this probability, or not: p(a) p(b), letters drawn independently. EM learns
    the probabilities and the share of related pairs, which are names and loanwords, in one script or in two.

    Ristad and Yianilos (1998). Learning string-edit distance. IEEE PAMI.
    """

    substitute: NDArray[np.float64]
    """s: (a, b)."""
    delete: NDArray[np.float64]
    """d: (a,)."""
    insert: NDArray[np.float64]
    """i: (b,)."""
    source: NDArray[np.float64]
    """Letter probabilities of unrelated words: (a,)."""
    target: NDArray[np.float64]
    """(b,)."""
    share: float
    """Share of related pairs."""

    @classmethod
    def fit(cls, first: Encoded, second: Encoded, same: NDArray[np.float64]) -> Transducer:
        """By EM.  first, second: the words of each pair; same (a, b): 1 where two letters are the same."""
        model = cls._start(first, second, same)
        for _ in range(ITERATIONS):
            model = model._improved(first, second)
        return model

    def log_odds(self, first: Encoded, second: Encoded) -> NDArray[np.float64]:
        """Log-odds log [p(a, b) / (p(a) p(b))] of pairs of words: (p,)."""
        odds = np.zeros(len(first.lengths))
        for rows in blocks_by_length(first, second):
            a, b = first.take(rows), second.take(rows)
            odds[rows] = self._log_odds(a, b, _ends(self._forward(a, b), a, b))
        return odds

    @classmethod
    def _start(cls, first: Encoded, second: Encoded, same: NDArray[np.float64]) -> Transducer:
        source, target = (_letter_shares(words, size) for words, size in zip((first, second), same.shape, strict=True))
        substitute = 0.8 * np.outer(source, target)
        if same.any():
            substitute += 2 * same / same.sum()
        total = substitute.sum() + 0.2
        return cls(substitute / total, 0.1 * source / total, 0.1 * target / total, source, target, START_SHARE)

    def _improved(self, first: Encoded, second: Encoded) -> Transducer:
        """One iteration of EM."""
        substitute = 20 * PRIOR * np.outer(self.source, self.target)
        delete, insert, related = PRIOR * self.source, PRIOR * self.target, 0.0
        for rows in blocks_by_length(first, second):
            counts = self._counts(first.take(rows), second.take(rows))
            substitute, delete, insert = substitute + counts[0], delete + counts[1], insert + counts[2]
            related += counts[3]
        total = substitute.sum() + delete.sum() + insert.sum()
        share = min(max(related / len(first.lengths), 0.02), 0.9)
        return Transducer(substitute / total, delete / total, insert / total, self.source, self.target, share)

    def _counts(
        self, a: Encoded, b: Encoded
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
        """Expected substitutions, deletions, insertions, and number of related pairs."""
        before, after = self._forward(a, b), self._backward(a, b)
        whole = _ends(before, a, b)
        related = 1 / (1 + np.exp(-self._log_odds(a, b, whole) - np.log(self.share / (1 - self.share))))
        after *= related / np.maximum(whole, 1e-300)
        letters, own, other = self._letters(a, b)
        substituted = _sums(letters, before[:-1, :-1] * after[1:, 1:], self.substitute.size)
        deleted = _sums(own, (before[:-1] * after[1:]).sum(1), len(self.source))
        inserted = _sums(other, (before[:, :-1] * after[:, 1:]).sum(0), len(self.target))
        return (
            substituted.reshape(self.substitute.shape) * self.substitute,
            deleted * self.delete,
            inserted * self.insert,
            float(related.sum()),
        )

    def _forward(self, a: Encoded, b: Encoded) -> NDArray[np.float64]:
        """Probability of the first i and j letters: (i, j, p)."""
        substitute, delete, insert = self._steps(a, b)
        rows, columns, count = substitute.shape
        table = np.zeros((rows + 1, columns + 1, count))
        table[0, 0] = 1
        for i in range(rows + 1):
            if i:
                table[i, 1:] = table[i - 1, :-1] * substitute[i - 1]
                table[i] += table[i - 1] * delete[i - 1]
            for j in range(columns):
                table[i, j + 1] += table[i, j] * insert[j]
        return table

    def _backward(self, a: Encoded, b: Encoded) -> NDArray[np.float64]:
        """Probability of the letters after the first i and j; 0 behind the end of a word: (i, j, p)."""
        substitute, delete, insert = self._steps(a, b)
        rows, columns, count = substitute.shape
        table = np.zeros((rows + 1, columns + 1, count))
        table[a.lengths, b.lengths, np.arange(count)] = 1
        for i in reversed(range(rows + 1)):
            if i < rows:
                table[i, :-1] += table[i + 1, 1:] * substitute[i]
                table[i] += table[i + 1] * delete[i]
            for j in reversed(range(columns)):
                table[i, j] += table[i, j + 1] * insert[j]
        return table

    def _steps(self, a: Encoded, b: Encoded) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """s(aᵢ, bⱼ), d(aᵢ) and i(bⱼ) of each pair: (i, j, p), (i, p), (j, p)."""
        letters, own, other = self._letters(a, b)
        return self.substitute.reshape(-1)[letters], self.delete[own], self.insert[other]

    def _letters(self, a: Encoded, b: Encoded) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of (aᵢ, bⱼ), aᵢ and bⱼ, up to the longest word: (i, j, p), (i, p), (j, p)."""
        own, other = (word.letters.T[: int(word.lengths.max(initial=0))].astype(np.int64) for word in (a, b))
        return own[:, None] * len(self.target) + other, own, other

    def _log_odds(self, a: Encoded, b: Encoded, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """From p(a, b) of each pair: (p,)."""
        independent = _log_probability(a, self.source) + _log_probability(b, self.target)
        odds: NDArray[np.float64] = np.log(np.maximum(whole, 1e-300)) - independent
        return odds


def _ends(table: NDArray[np.float64], a: Encoded, b: Encoded) -> NDArray[np.float64]:
    """The cell of each pair in which both words end: (p,)."""
    ends: NDArray[np.float64] = table[a.lengths, b.lengths, np.arange(len(a.lengths))]
    return ends


def _sums(letters: NDArray[np.int64], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The sum of the values of each letter: (size,)."""
    return np.bincount(letters.reshape(-1), values.reshape(-1), minlength=size).astype(np.float64)


def _letter_shares(words: Encoded, size: int) -> NDArray[np.float64]:
    counts = np.bincount(words.letters[_inside(words)], minlength=size) + 1
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares


def _log_probability(words: Encoded, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = (np.log(shares)[words.letters] * _inside(words)).sum(1)
    return total


def _inside(words: Encoded) -> NDArray[np.bool_]:
    """Which letters are not behind the end of their word."""
    return np.arange(words.letters.shape[1]) < words.lengths[:, None]
