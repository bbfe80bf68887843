"""One language ranks the words of the other (section 3.3): penalties, negatives, losses of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bilex.methods.rapo.objective import pair_loss, ranking_loss
from bilex.retrieval.csls import csls_bias
from bilex.training.negatives import gold_lists, hard_negatives, is_gold

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.methods.rapo.objective import LossWeights
    from bilex.methods.rapo.penalties import ApproximatePenalties
    from bilex.methods.rapo.towers import Tower
    from bilex.search.blocks import Progress


@dataclass(frozen=True, kw_only=True)
class Negatives:
    """How many wrong answers each source word is ranked against, and of what kind."""

    hard: int
    """K_h: the best-scored wrong answers, found at the start of each epoch."""
    random: int
    """K_r: words drawn from the whole vocabulary."""
    fresh: bool
    """Whether random negatives are drawn for each source word; if not, a batch shares them."""
    warm_up: int
    """Epochs in which the hard negatives are random too."""


class RankingDirection:
    """Source words rank target words, or the reverse.

    queries, keys: the towers of the language ranked for and of the language that is ranked; pairs: (p, 2) rows of them.
    """

    def __init__(
        self,
        queries: Tower,
        keys: Tower,
        pairs: Tensor,
        *,
        penalties: ApproximatePenalties,
        negatives: Negatives,
        by_word: bool,
    ) -> None:
        self.queries, self.keys, self.pairs = queries, keys, pairs
        self.penalties, self.negatives = penalties, negatives
        self.words, self.gold = gold_lists(pairs)
        self.place = torch.searchsorted(self.words, pairs[:, 0].contiguous())
        translations = (self.gold >= 0).sum(1)[self.place].to(queries.rows)
        self.weight = translations.mean() / translations if by_word else torch.ones_like(translations)
        self.penalty = self.hard = torch.empty(0)

    def refresh(self, queries: Tensor, keys: Tensor, epoch: int, generator: Generator, progress: Progress) -> float:
        """At the start of an epoch: r of every key over all queries, and the hard negatives of every word.

        queries: (n, d), keys: (m, d), the mapped tables. Returns the mean error of r.
        """
        self.penalty, error = self.penalties(keys, queries, progress)
        count = self.negatives.hard
        if epoch < self.negatives.warm_up:
            self.hard = self._random(generator, len(self.words), count)
        else:
            self.hard = hard_negatives(queries[self.words], keys, self.gold, count, bias=csls_bias(self.penalty))
        return error

    def losses(
        self, batch: Tensor, a: Tensor, b: Tensor, weights: LossWeights, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """L_r and L_m of some pairs, with the projections A of the queries and B of the keys. Each key is mapped once.

        x̃ A · z̃ B = x̃ A Bᵀ · z̃: an orthogonal B is applied to the few queries, and the many keys are only adapted.
        """
        words, right = self.pairs[batch].T
        gold, fresh = self.gold[self.place[batch]], self.negatives.fresh
        random = self._random(generator, len(batch) if fresh else 1, self.negatives.random).expand(len(batch), -1)
        wrong = torch.cat([self.hard[self.place[batch]], random], 1)
        valid = (wrong >= 0) & ~is_gold(wrong, gold)
        needed, where = torch.unique(torch.cat([right[:, None], wrong.clamp_min(0)], 1), return_inverse=True)
        if self.keys.kind == "householder":
            x, z = self.queries.mapped(a @ b.T, words), self.keys.adapted(needed)
        else:
            x, z = self.queries.mapped(a, words), self.keys.mapped(b, needed)
        scores = (2 * x @ z.T - self.penalty[needed]).gather(1, where)
        return (
            ranking_loss(scores[:, 0], scores[:, 1:], valid.to(scores), self.weight[batch]),
            pair_loss(x, z[where[:, 0]], weights.distance),
        )

    def _random(self, generator: Generator, rows: int, count: int) -> Tensor:
        drawn = torch.randint(len(self.keys.rows), (rows, count), generator=generator)
        return drawn.to(self.pairs.device)
