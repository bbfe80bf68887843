"""Hard negatives of the words that are trained on, in every epoch, without a full search each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.approximate import near_keys
from bilex.search.products import products
from bilex.training.negatives import best_without_gold, hard_negatives, is_gold

if TYPE_CHECKING:
    from torch import Tensor

LIST_FACTOR = 4
"""Near keys that are stored for each word, for each hard negative wanted."""
SAMPLE_SIZE = 256
"""Words on which the recall of the lists is measured."""
MIN_RECALL = 0.9
"""Share of the true hard negatives that the lists must have; below it, the lists are searched again."""


class HardNegatives:
    """The wrong keys with the highest scores of each word, from stored lists of near keys.

    words: (w,), ascending, all words that are ever asked for. While the map changes, the best keys of a word change
    places, but they hardly leave a list that is several times as long. So the lists are searched once, and later only
    their scores are computed again. The share of the true hard negatives in the lists is measured on a sample each
    time. If it is too low, the lists are searched again.
    """

    def __init__(self, words: Tensor, count: int, *, min_recall: float = MIN_RECALL) -> None:
        self.words, self.count, self.min_recall = words, count, min_recall
        self.near: Tensor | None = None

    def __call__(self, words: Tensor, queries: Tensor, keys: Tensor, gold: Tensor, bias: Tensor) -> Tensor:
        """The `count` keys with the highest q · k + b per word, without its gold keys: (s, count), padded with -1.

        words: (s,), some of all words; queries: (n, d), the mapped rows of all words of the language; keys: (m, d);
        gold: (s, g), padded with -1; bias: (m,).
        """
        if not self.count:
            return words.new_empty((len(words), 0))
        place = torch.searchsorted(self.words, words)
        if self.near is not None:
            found = self._from_lists(self.near[place], queries[words], keys, gold, bias)
            if self._recall(found, queries[words], keys, gold, bias) >= self.min_recall:
                return found
        size = min(LIST_FACTOR * self.count + gold.shape[1], len(keys))
        self.near = near_keys(queries[self.words], keys, size, bias=bias).to(torch.int32)
        return self._from_lists(self.near[place], queries[words], keys, gold, bias)

    def _from_lists(self, near: Tensor, queries: Tensor, keys: Tensor, gold: Tensor, bias: Tensor) -> Tensor:
        scores = products(queries, keys, near) + bias.to(keys)[near.long()]
        order = scores.argsort(dim=1, descending=True, stable=True)
        return best_without_gold(near.long().gather(1, order), gold, self.count)

    def _recall(self, found: Tensor, queries: Tensor, keys: Tensor, gold: Tensor, bias: Tensor) -> float:
        """The share of the true hard negatives that was found, on a sample of the words."""
        sample = torch.arange(0, len(queries), max(1, len(queries) // SAMPLE_SIZE), device=queries.device)
        true = hard_negatives(queries[sample], keys, gold[sample], self.count, bias=bias)
        hits = is_gold(true, found[sample]) & (true >= 0)
        return float(hits.sum() / (true >= 0).sum().clamp_min(1))
