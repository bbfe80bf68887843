"""Word pairs by CSLS between two mapped tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

from bilex.errors import SettingsError
from bilex.induction.score_dropout import best_of_some
from bilex.retrieval.csls import csls_bias, local_mean
from bilex.search.lists import TopK
from bilex.search.topk import topk, topk_both
from bilex.search.with_bias import LISTED, best_of_near

if TYPE_CHECKING:
    from torch import Generator, Tensor


RARE_FROM = 100.0
"""Among the first words of a table rank says little about how frequent they are."""
KEPT = 2**25
"""So many products, 128 MB, are kept where they are needed several times."""
LEAST_JUDGED = 20
"""Of fewer dev words nothing can be said."""


class Near(NamedTuple):
    """The nearest of the other table, of every row of two tables, best first."""

    x: TopK
    z: TopK

    @classmethod
    def search(cls, x: Tensor, z: Tensor, n: int, *, before: Near | None = None, matrix: Tensor | None = None) -> Near:
        """The n nearest of each; those of the same rows under another map, `before`, make the search faster.

        matrix: x · zᵀ where it is known.
        """
        known = None
        if before is not None and (len(before.x.indices), len(before.z.indices)) == (len(x), len(z)):
            known = before.x.indices, before.z.indices
        return cls(*topk_both(x, z, n, known=known, matrix=matrix))

    def penalties(self, k: int) -> tuple[Tensor, Tensor]:
        """The r of CSLS of both tables: the means of the k largest products."""
        r_x, r_z = (local_mean(near.values, k) for near in self)
        return r_x, r_z


class Induced(NamedTuple):
    """Pairs (p, 2) of row numbers, and how sure each is (p,)."""

    pairs: Tensor
    scores: Tensor
    best_cosine: float
    """Mean cosine of each word, of both languages, with its nearest in the other: how near the languages are."""
    near: Near | None = None
    """The nearest of all words that were looked at."""


@dataclass(frozen=True, kw_only=True)
class Induction:
    """Which pairs of the most frequent words of two languages to believe."""

    max_rank: int = 15_000
    """Only so many of the most frequent words of each language are looked at."""
    candidates: int | None = None
    """So many are looked at as their translations, and compete with them; none: the same."""
    beyond: bool = True
    """Whether a translation beyond `max_rank`, one of the other candidates, makes a pair."""
    k: int = 10
    """Neighbours of CSLS; with 0 there is no penalty, and the score is twice the cosine."""
    direction: Literal["mutual", "forward", "backward", "union"] = "mutual"
    """Pairs that are each other's best; best targets of sources; best sources of targets; or these one after the other,
    so that pairs that are mutual come twice."""
    sure: Literal["score", "margin", "mean_margin"] = "score"
    """How sure a pair is: its CSLS score, or by how much that exceeds the next best (of both directions the less, or
    their mean)."""
    frequent: float = 0.0
    """How much the more frequent of two candidates is preferred: so many times the logarithm of its rank is taken off
    its score. Of the forms of a word the most frequent one is most often the one in dictionaries."""
    threshold: float | None = None
    """Pairs that are less sure than this are left out."""
    share: float = 1.0
    """Only this share of the pairs is taken, the surest."""
    most: int | None = None
    """At most so many pairs are taken, the surest."""
    keep: float = 1.0
    """Each score is looked at with this probability only: chance that lets self-learning leave a poor optimum."""

    def __post_init__(self) -> None:
        if self.max_rank < 1:
            raise SettingsError(f"induction: max_rank={self.max_rank}; needed at least 1")
        if self.k < 0:
            raise SettingsError(f"induction: k={self.k}; needed at least 0")
        if self.candidates is not None and self.candidates < self.max_rank:
            raise SettingsError(f"induction: candidates={self.candidates}; needed at least max_rank={self.max_rank}")
        if self.frequent < 0:
            raise SettingsError(f"induction: frequent={self.frequent}; needed at least 0")
        for name in ("share", "keep"):
            if not 0 < getattr(self, name) <= 1:
                raise SettingsError(f"induction: {name}={getattr(self, name)}; needed a number above 0, at most 1")
        if self.most is not None and self.most < 1:
            raise SettingsError(f"induction: most={self.most}; needed at least 1, or none")
        if self._by_margin and self.keep < 1:
            raise SettingsError(f"induction: with keep below 1 the next best is not known; leave sure={self.sure} out")

    @property
    def _by_margin(self) -> bool:
        return self.sure != "score"

    @property
    def _from_lists(self) -> bool:
        """Whether the best is found from the nearest."""
        return self.keep == 1 and not self._by_margin

    def __call__(
        self, x: Tensor, z: Tensor, generator: Generator, near: Near | None = None, *, before: Near | None = None
    ) -> Induced:
        """Propose pairs.  x: (n, d), z: (m, d), unit rows in one space, in order of frequency.

        `near`, at least k nearest of all rows, saves a search where all rows are looked at; `before`, what an induction
        from the same words found near under another map, makes it faster.
        """
        reach = self.candidates or self.max_rank
        whole = reach >= max(len(x), len(z))
        x, z = x[:reach], z[:reach]
        matrix = x @ z.T if self.keep < 1 and len(x) * len(z) <= KEPT else None
        if near is None or not whole:
            listed = max(self.k, LISTED if self._from_lists else 1)
            near = Near.search(x, z, listed, before=before, matrix=matrix)
        r_x, r_z = near.penalties(self.k) if self.k else (0 * side.values[:, 0] for side in near)
        sources = torch.arange(min(self.max_rank, len(x)), device=x.device)
        targets = torch.arange(min(self.max_rank, len(z)), device=z.device)
        found = []
        if self.direction != "backward":
            found.append(self._best(sources, x, z, near.x, r_x, r_z, generator, matrix))
        if self.direction == "mutual":
            targets = torch.unique(found[0][0][:, 1])
        if self.direction != "forward":
            turned = None if matrix is None else matrix.T
            pairs, scores = self._best(targets, z, x, near.z, r_z, r_x, generator, turned)
            found.append((pairs.flip(1), scores))
        joined = _mutual(*found, mean=self.sure == "mean_margin") if self.direction == "mutual" else _joined(found)
        pairs, scores = self._believed(*joined)
        return Induced(pairs, scores, float((near.x.values[:, 0].mean() + near.z.values[:, 0].mean()) / 2), near)

    def most_pairs(self, n: int, m: int) -> int:
        """How many pairs there could be between tables of n and m words."""
        sources, targets = min(self.max_rank, n), min(self.max_rank, m)
        return {
            "mutual": min(sources, targets),
            "forward": sources,
            "backward": targets,
            "union": sources + targets,
        }[self.direction]

    def _best(
        self,
        words: Tensor,
        queries: Tensor,
        keys: Tensor,
        near: TopK,
        r_queries: Tensor,
        r_keys: Tensor,
        generator: Generator,
        matrix: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """The best key of some queries: (query, key), and how sure it is; near: the nearest keys of all queries."""
        rarity = torch.log(torch.arange(len(keys), device=keys.device, dtype=keys.dtype) + RARE_FROM)
        bias = csls_bias(r_keys + self.frequent * rarity)
        if self._from_lists:
            found = best_of_near(queries[words], keys, bias, TopK(near.values[words], near.indices[words]))
        elif self.keep == 1:
            found = topk(queries[words], keys, 2, bias=bias)
        else:
            some = matrix if matrix is None or len(words) == len(matrix) else matrix[words]
            found = best_of_some(queries[words], keys, self.keep, bias=bias, generator=generator, matrix=some)
        less = 2 * found.values[:, -1] if self._by_margin else r_queries[words]
        return torch.stack([words, found.indices[:, 0]], 1), 2 * found.values[:, 0] - less

    def _believed(self, pairs: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
        if not self.beyond:
            within = (pairs < self.max_rank).all(1)
            pairs, scores = pairs[within], scores[within]
        if self.threshold is not None:
            good = scores >= self.threshold
            pairs, scores = pairs[good], scores[good]
        count = round(self.share * len(scores))
        if self.most is not None:
            count = min(count, self.most)
        if count < len(scores):
            best = scores.topk(count).indices.sort().values
            pairs, scores = pairs[best], scores[best]
        return pairs, scores


def surest(induced: Induced, dev: Tensor | None, precision: float, *, least: float = 0.0) -> Tensor:
    """The surest pairs: as many as have at least this precision on the words of the dev pairs (p, 2).

    However poor they are, this least share of all is taken, and so many that `LEAST_JUDGED` of them can be judged.
    Where nothing is known it is the least share.
    """
    order = induced.scores.argsort(descending=True, stable=True)
    taken = round(least * len(order))
    if dev is not None:
        taken = max(taken, _as_good_as(induced.pairs[order], dev, precision))
    return induced.pairs[order[:taken].sort().values]


def _as_good_as(pairs: Tensor, dev: Tensor, precision: float) -> int:
    """How many of the pairs, the surest first, have this precision."""
    judged = torch.isin(pairs[:, 0], dev[:, 0]).nonzero()[:, 0]
    if not len(judged):
        return 0
    right = is_among(pairs[judged], dev).double()
    good = (right.cumsum(0) / torch.arange(1, len(judged) + 1, device=right.device) >= precision).nonzero()[:, 0]
    return int(judged[max([min(LEAST_JUDGED, len(judged)) - 1, *good[-1:].tolist()])]) + 1


def is_among(pairs: Tensor, others: Tensor) -> Tensor:
    """Which of the pairs (p, 2) are among the others (q, 2): (p,)."""
    return (pairs[:, None] == others[None]).all(2).any(1)


def together(pairs: Tensor, induced: Tensor) -> Tensor:
    """The dictionary, and the induced pairs whose source word is not in it."""
    return torch.cat([pairs, induced[~torch.isin(induced[:, 0], pairs[:, 0])]])


def _joined(found: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    return torch.cat([pairs for pairs, _ in found]), torch.cat([scores for _, scores in found])


def _mutual(forward: tuple[Tensor, Tensor], backward: tuple[Tensor, Tensor], *, mean: bool) -> tuple[Tensor, Tensor]:
    """The pairs that both directions have, as sure as in the less sure one, or as in their mean.

    The targets backward are in order.
    """
    pairs, scores = forward
    back = torch.searchsorted(backward[0][:, 1].contiguous(), pairs[:, 1].contiguous())
    mutual = backward[0][back, 0] == pairs[:, 0]
    others = backward[1][back]
    return pairs[mutual], ((scores + others) / 2 if mean else torch.minimum(scores, others))[mutual]
