"""Word pairs by CSLS between two mapped tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

from bilex.errors import SettingsError
from bilex.linalg.topk import KEY_BLOCK, TopK, score_blocks, topk

if TYPE_CHECKING:
    from torch import Generator, Tensor


class Induced(NamedTuple):
    """Pairs (p, 2) of row numbers, and the CSLS score of each (p,)."""

    pairs: Tensor
    scores: Tensor
    best_cosine: float
    """Mean cosine of each word, of both languages, with its nearest in the other: how near the languages are."""


@dataclass(frozen=True, kw_only=True)
class Induction:
    """Which pairs of the most frequent words of two languages to believe."""

    max_rank: int = 15_000
    """Only so many of the most frequent words of each language take part, as candidates too."""
    k: int = 10
    """Neighbours of CSLS."""
    direction: Literal["mutual", "forward", "backward", "union"] = "mutual"
    """Pairs that are each other's best; best targets of sources; best sources of targets; or these one after the other,
    so that pairs that are mutual come twice."""
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
        near_x, near_z = topk(x, z, self.k).values, topk(z, x, self.k).values
        r_x, r_z = near_x.mean(1), near_z.mean(1)
        found = []
        if self.direction != "backward":
            found.append(self._best(x, z, r_z, r_x, generator))
        if self.direction != "forward":
            pairs, scores = self._best(z, x, r_x, r_z, generator)
            found.append((pairs.flip(1), scores))
        pairs, scores = self._believed(*(_mutual(*found) if self.direction == "mutual" else _joined(found)))
        return Induced(pairs, scores, float((near_x[:, 0].mean() + near_z[:, 0].mean()) / 2))

    def _best(
        self, queries: Tensor, keys: Tensor, penalty: Tensor, own: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """The best key of each query: (query, key), and its score."""
        found = best_of_some(queries, keys, self.keep, bias=-penalty / 2, generator=generator)
        rows = torch.arange(len(queries), device=queries.device)
        return torch.stack([rows, found.indices[:, 0]], 1), 2 * found.values[:, 0] - own

    def _believed(self, pairs: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
        if self.threshold is not None:
            good = scores >= self.threshold
            pairs, scores = pairs[good], scores[good]
        if self.share < 1:
            best = scores.topk(round(self.share * len(scores))).indices.sort().values
            pairs, scores = pairs[best], scores[best]
        return pairs, scores


def best_of_some(
    queries: Tensor, keys: Tensor, keep: float, *, bias: Tensor | None = None, generator: Generator
) -> TopK:
    """The best-scored key of each query, (q, 1), of those that a coin lets it look at; q · k + bias."""
    if keep == 1:
        return topk(queries, keys, 1, bias=bias)
    values, indices = [queries.new_empty(0)], [torch.empty(0, dtype=torch.long, device=queries.device)]
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
    return TopK(torch.cat(values)[:, None], torch.cat(indices)[:, None])


def together(pairs: Tensor, induced: Tensor) -> Tensor:
    """The dictionary, and the induced pairs whose source word is not in it."""
    return torch.cat([pairs, induced[~torch.isin(induced[:, 0], pairs[:, 0])]])


def _joined(found: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    return torch.cat([pairs for pairs, _ in found]), torch.cat([scores for _, scores in found])


def _mutual(forward: tuple[Tensor, Tensor], backward: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The pairs that both directions have."""
    pairs, scores = forward
    source_of = backward[0][:, 0]
    mutual = source_of[pairs[:, 1]] == pairs[:, 0]
    return pairs[mutual], scores[mutual]
