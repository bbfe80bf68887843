"""Ranking in one direction (section 3.3): CSLS penalties, negatives, and the losses of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bilex.methods.rapo.objective import pair_loss, ranking_loss
from bilex.retrieval.csls import csls_bias
from bilex.training.negatives import gold_lists, is_gold

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.methods.rapo.hard_negatives import HardNegatives
    from bilex.methods.rapo.objective import LossWeights
    from bilex.methods.rapo.penalties import ApproximatePenalties
    from bilex.methods.rapo.towers import Tower
    from bilex.search.blocks import Progress


@dataclass(frozen=True, kw_only=True)
class Negatives:
    """How many negatives each source word has, and how they are chosen."""

    hard: int
    """K_h: hard negatives, the wrong words with the highest scores, searched at the start of each epoch."""
    random: int
    """K_r: random negatives, drawn from the whole vocabulary."""
    fresh: bool
    """Whether random negatives are drawn for each source word; else all pairs of a batch share them."""
    warm_up: int
    """First epochs, in which the hard negatives are drawn at random too."""


KEY_MULTIPLE = 1024
"""In low precision, the keys of a batch are padded to a multiple of this. Kernels are stored for every shape of a
product: with a shape of its own in every step, they would take another megabyte of memory each time."""


class RankingDirection:
    """For each source word, target words are ranked; or the reverse.

    queries, keys: the towers of the two languages; key_context: the context vectors of all keys, in the precision of
    the largest products, those with the many keys of a batch; pairs: (p, 2), a row of the queries and one of the keys.
    """

    def __init__(
        self,
        queries: Tower,
        keys: Tower,
        pairs: Tensor,
        *,
        key_context: Tensor,
        penalties: ApproximatePenalties,
        hard_negatives: HardNegatives,
        negatives: Negatives,
        by_word: bool,
    ) -> None:
        self.queries, self.keys, self.key_context, self.pairs = queries, keys, key_context, pairs
        self.penalties, self.hard_negatives, self.negatives = penalties, hard_negatives, negatives
        self.words, self.gold = gold_lists(pairs)
        self.place = torch.searchsorted(self.words, pairs[:, 0].contiguous())
        translations = (self.gold >= 0).sum(1)[self.place].to(queries.rows)
        self.weight = translations.mean() / translations if by_word else torch.ones_like(translations)
        self.penalty = self.hard = torch.empty(0)

    def refresh(self, queries: Tensor, keys: Tensor, epoch: int, generator: Generator, progress: Progress) -> float:
        """At the start of an epoch: compute r of every key over all queries; search the hard negatives of every word.

        queries: (n, d), keys: (m, d), the mapped tables. Returns the mean error of r.
        """
        self.penalty, error = self.penalties(keys, queries, progress)
        if epoch < self.negatives.warm_up:
            self.hard = self._random(generator, len(self.words), self.negatives.hard)
        else:
            self.hard = self.hard_negatives(self.words, queries, keys, self.gold, csls_bias(self.penalty))
        return error

    def losses(self, batch: Tensor, weights: LossWeights, generator: Generator) -> tuple[Tensor, Tensor]:
        """L_r and L_m of a batch of pairs. A word that several pairs of the batch have is mapped once."""
        words, translations = self.pairs[batch].T
        gold, fresh = self.gold[self.place[batch]], self.negatives.fresh
        random = self._random(generator, len(batch) if fresh else 1, self.negatives.random).expand(len(batch), -1)
        wrong = torch.cat([self.hard[self.place[batch]], random], 1)
        valid = (wrong >= 0) & ~is_gold(wrong, gold)
        distinct, row = distinct_rows(words, len(self.queries.rows))
        keys, column = distinct_rows(torch.cat([translations[:, None], wrong.clamp_min(0)], 1), len(self.keys.rows))
        if self.key_context.dtype != self.keys.rows.dtype:
            keys = torch.nn.functional.pad(keys, (0, -len(keys) % KEY_MULTIPLE))
        x = self.queries.map_few(distinct)
        cosines = self.keys.cosines(x, keys, self.key_context).take(row[:, None] * len(keys) + column)
        scores = 2 * cosines - self.penalty[keys][column]
        ranking = ranking_loss(scores[:, 0], scores[:, 1:], valid.to(scores), self.weight[batch])
        if not weights.lambda_1:
            return ranking, ranking.new_zeros(())
        return ranking, pair_loss(x[row], self.keys.map_few(translations), weights.distance)

    def _random(self, generator: Generator, rows: int, count: int) -> Tensor:
        drawn = torch.randint(len(self.keys.rows), (rows, count), generator=generator)
        return drawn.to(self.pairs.device)


def distinct_rows(rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`torch.unique` with its inverse, of row numbers below a count: to mark them is faster than to sort them."""
    used = torch.zeros(count, dtype=torch.bool, device=rows.device)
    used[rows.flatten()] = True
    return used.nonzero()[:, 0], (used.cumsum(0) - 1)[rows]
