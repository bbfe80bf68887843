"""Words as sparse vectors of their letter n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from scipy import sparse


class Ngrams:
    """Unit vectors of n-gram counts, weighted by log((1 + words) / (1 + words with it)); n-grams of given words only.

    An n-gram that no given word has counts only for the length of the vector. < and > mark the ends of a word.
    """

    def __init__(self, words: Sequence[str], sizes: tuple[int, ...]) -> None:
        self._sizes = sizes
        lists = [list(self._of(word)) for word in words]
        self._numbers: dict[str, int] = {}
        for ngram in (ngram for found in lists for ngram in found):
            self._numbers.setdefault(ngram, len(self._numbers))
        frequency = np.bincount(
            [self._numbers[ngram] for found in lists for ngram in set(found)], minlength=len(self._numbers)
        )
        self._unknown = len(self._numbers)
        self._weights = np.log((1 + len(words)) / (1 + np.append(frequency, 0)))
        self.matrix = self._matrix(lists)

    def vectors(self, words: Iterable[str]) -> sparse.csr_array:
        """Unit vectors of words: (n, n-grams)."""
        return self._matrix([list(self._of(word)) for word in words])

    def _matrix(self, lists: Sequence[list[str]]) -> sparse.csr_array:
        from scipy import sparse

        columns = np.array([self._numbers.get(ngram, self._unknown) for found in lists for ngram in found], np.int64)
        ends = np.cumsum([0, *map(len, lists)])
        weights, rows = self._weights[columns], np.repeat(np.arange(len(lists)), np.diff(ends))
        known = columns < self._unknown
        shape = (len(lists), self._unknown)
        counted = sparse.csr_array((weights[known], (rows[known], columns[known])), shape=shape)
        unknown = np.bincount(rows[~known], weights[~known] ** 2, minlength=len(lists))
        length = np.sqrt((counted**2).sum(1) + unknown)
        return sparse.diags_array(1 / np.maximum(length, 1e-9)) @ counted

    def _of(self, word: str) -> Iterator[str]:
        marked = f"<{word}>"
        for size in self._sizes:
            yield from (marked[i : i + size] for i in range(len(marked) - size + 1))


def row_products(
    first: sparse.csr_array, second: sparse.csr_array, pairs: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Inner products of chosen rows of two matrices: (p,)."""
    products: NDArray[np.float64] = (first[pairs[0]] * second[pairs[1]]).sum(1)
    return products
