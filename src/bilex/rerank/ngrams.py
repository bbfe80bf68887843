"""Words as sparse vectors of their letter n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

PAIRS = 4096
"""Pairs of rows at a time, to limit memory."""


class Ngrams:
    """Unit vectors of n-gram counts, weighted by log((1 + words) / (1 + words with it)); n-grams of given words only.

    An n-gram that no given word has counts only for the length of the vector. < and > mark the ends of a word.
    """

    def __init__(self, words: Sequence[str], sizes: tuple[int, ...]) -> None:
        self._sizes, self._letters = sizes, np.unique(_codes(words))
        self._known = np.unique(self._numbers(words)[1])
        self._weights, self._weight_of_unknown = np.ones(len(self._known)), np.log(1 + len(words))
        words_with_it = np.bincount(self._counts(words)[0].indices, minlength=len(self._known))
        self._weights = np.log((1 + len(words)) / (1 + words_with_it))
        self.matrix = self.vectors(words)

    def vectors(self, words: Iterable[str]) -> sparse.csr_array:
        """Unit vectors of words: (n, n-grams)."""
        from scipy import sparse

        counts, unknown = self._counts(list(words))
        counts.data *= self._weights[counts.indices]
        length = np.sqrt((counts**2).sum(1) + unknown * self._weight_of_unknown**2)
        return sparse.diags_array(1 / np.maximum(length, 1e-9)) @ counts

    def _counts(self, words: Sequence[str]) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        """How often each word has each n-gram, (n, n-grams), and how many unknown n-grams it has, (n,)."""
        from scipy import sparse

        rows, numbers = self._numbers(words)
        columns, known = np.searchsorted(self._known, numbers), np.isin(numbers, self._known)
        counts = sparse.csr_array(
            (np.ones(int(known.sum())), (rows[known], columns[known])), shape=(len(words), len(self._known))
        )
        return counts, np.bincount(rows[~known], minlength=len(words))

    def _numbers(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All n-grams: the word they are from, and their letters as digits of one number, -1 if one is unknown."""
        codes = _codes(words)
        digits = np.searchsorted(self._letters, codes) + 1
        digits[~np.isin(codes, self._letters)] = 0
        lengths = np.array([len(word) + 2 for word in words], np.int64)
        ends, rows = np.repeat(lengths.cumsum(), lengths), np.repeat(np.arange(len(words)), lengths)
        starts = [(np.arange(len(codes)) + size <= ends).nonzero()[0] for size in self._sizes]
        return np.concatenate([rows[start] for start in starts]), np.concatenate(
            [
                self._number(digits[start[:, None] + np.arange(size)])
                for start, size in zip(starts, self._sizes, strict=True)
            ]
        )

    def _number(self, digits: NDArray[np.int64]) -> NDArray[np.int64]:
        """digits: (n, size). No digit of a known letter is 0, so numbers of different sizes differ."""
        numbers = digits @ (len(self._letters) + 1) ** np.arange(digits.shape[1], dtype=np.int64)
        return np.where((digits > 0).all(1), numbers, -1)


def _codes(words: Sequence[str]) -> NDArray[np.uint32]:
    """The letters of all words with their marked ends, one after the other."""
    marked = "".join(f"<{word}>" for word in words)
    return np.frombuffer(marked.encode("utf-32-le", "surrogatepass"), np.uint32)


def row_products(
    first: sparse.csr_array, second: sparse.csr_array, pairs: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Inner products of chosen rows of two matrices: (p,).

    Of each pair only the entries of the second row are looked at; a block of the first rows is made dense for this.
    """
    products = np.empty(len(pairs[0]))
    for start in range(0, len(products), PAIRS):
        i, j = (place[start : start + PAIRS] for place in pairs)
        rows, places = np.unique(i, return_inverse=True)
        chosen = second[j]
        pair = np.repeat(np.arange(len(j)), np.diff(chosen.indptr))
        values = chosen.data * first[rows].toarray()[places[pair], chosen.indices]
        products[start : start + PAIRS] = np.bincount(pair, values, minlength=len(j))
    return products
