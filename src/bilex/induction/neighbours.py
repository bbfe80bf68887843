"""Word pairs by CSLS between two mapped tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

from bilex.errors import SettingsError
from bilex.linalg.topk import KEY_BLOCK, score_blocks, topk

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.linalg.topk import TopK


class Induced(NamedTuple):
    """Pairs (p, 2) of row numbers, and the CSLS score of each (p,)."""

    pairs: Tensor
    scores: Tensor


@dataclass(frozen=True, kw_only=True)
class Induction:
    """Which pairs of the most frequent words of two languages to believe."""

    max_rank: int = 15_000
    """Only so many of the most frequent words of each language take part, as candidates too."""
    k: int = 10
    """Neighbours of CSLS."""
    direction: Literal["mutual", "forward", "backward", "union"] = "mutual"
    """Pairs that are each other's best; best targets of sources; best sources of targets; or all of both."""
    threshold: float | None = None
    """Pairs below this score are left out."""
    share: float = 1.0
    """Only this share of the pairs is taken, the best-scored."""
    keep: float = 1.0
    """Each score is looked at with this probability only: chance that lets self-learning leave a poor optimum."""

    def __post_init__(self) -> None:
        if self.max_rank < 1 or self.k < 1:
            raise SettingsError(f"induction: max_rank={self.max_rank}, k={self.k}; needed at least 1")
        for name in ("share", "keep"):
            if not 0 < getattr(self, name) <= 1:
                raise SettingsError(f"induction: {name}={getattr(self, name)}; needed a number above 0, at most 1")

    def __call__(self, x: Tensor, z: Tensor, generator: Generator) -> Induced:
        """Propose pairs.  x: (n, d), z: (m, d), unit rows in one space, in order of frequency."""
        x, z = x[: self.max_rank], z[: self.max_rank]
        r_x, r_z = topk(x, z, self.k).values.mean(1), topk(z, x, self.k).values.mean(1)
        forward = backward = None
        if self.direction != "backward":
            forward = self._best(x, z, r_z, r_x, generator)
        if self.direction != "forward":
            backward = self._best(z, x, r_x, r_z, generator)
        return self._believed(_join(forward, backward, self.direction))

    def _best(self, queries: Tensor, keys: Tensor, penalty: Tensor, own: Tensor, generator: Generator) -> Induced:
        """The best key of each query: (query, key)."""
        found = best_of_some(queries, keys, self.keep, bias=-penalty / 2, generator=generator)
        rows = torch.arange(len(queries), device=queries.device)
        return Induced(torch.stack([rows, found.indices[:, 0]], 1), 2 * found.values[:, 0] - own)

    def _believed(self, induced: Induced) -> Induced:
        pairs, scores = induced
        if self.threshold is not None:
            good = scores >= self.threshold
            pairs, scores = pairs[good], scores[good]
        if self.share < 1:
            best = scores.topk(round(self.share * len(scores))).indices.sort().values
            pairs, scores = pairs[best], scores[best]
        return Induced(pairs, scores)


def best_of_some(
    queries: Tensor, keys: Tensor, keep: float, *, bias: Tensor | None = None, generator: Generator
) -> TopK:
    """The best-scored key of each query, (q, 1), of those that a coin lets it look at; q · k + bias."""
    if keep == 1:
        return topk(queries, keys, 1, bias=bias)
    best = topk(queries[:0], keys, 1)
    values, indices = [], []
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=KEY_BLOCK):
        top = rows.new_full((len(rows),), -torch.inf)
        place = torch.zeros(len(rows), dtype=torch.long, device=rows.device)
        for start, scores in blocks:
            dropped = torch.rand(scores.shape, generator=generator).to(scores.device) >= keep
            value, column = scores.masked_fill_(dropped, -torch.inf).max(1)
            place = torch.where(value > top, column + start, place)
            top = torch.maximum(top, value)
        values.append(top)
        indices.append(place)
    if not values:
        return best
    return best._replace(values=torch.cat(values)[:, None], indices=torch.cat(indices)[:, None])


def _join(forward: Induced | None, backward: Induced | None, direction: str) -> Induced:
    """Both directions as pairs (source, target), in order of the source and without repetition."""
    if backward is None:
        assert forward is not None
        return forward
    backward = Induced(backward.pairs.flip(1), backward.scores)
    if forward is None:
        return _in_order(backward)
    if direction == "mutual":
        source_of = backward.pairs[:, 0]
        mutual = source_of[forward.pairs[:, 1]] == forward.pairs[:, 0]
        return Induced(forward.pairs[mutual], forward.scores[mutual])
    return _in_order(Induced(torch.cat([forward.pairs, backward.pairs]), torch.cat([forward.scores, backward.scores])))


def _in_order(induced: Induced) -> Induced:
    pairs, place = torch.unique(induced.pairs, dim=0, return_inverse=True)
    scores = induced.scores.new_empty(len(pairs)).index_copy_(0, place, induced.scores)
    return Induced(pairs, scores)
