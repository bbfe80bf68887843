"""Word pairs by CSLS between two mapped tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import torch

from bilex.errors import SettingsError
from bilex.induction.neighbours import NearestNeighbours
from bilex.induction.score_dropout import best_with_dropout
from bilex.retrieval.csls import csls_bias
from bilex.search.lists import TopK
from bilex.search.topk import topk
from bilex.search.with_bias import SHORTLIST_SIZE, best_with_bias

if TYPE_CHECKING:
    from torch import Generator, Tensor

RANK_OFFSET = 100.0
"""Added to ranks before their logarithm: the first words of a table differ little in frequency."""
MAX_CACHED_PRODUCTS = 2**25
"""With dropout, products are cached if there are at most so many (128 MB)."""


class InducedPairs(NamedTuple):
    """Pairs (p, 2) of row numbers, and the confidence of each (p,)."""

    pairs: Tensor
    confidence: Tensor
    best_cosine: float
    """Mean cosine of each word, of both languages, with its nearest in the other: how near the languages are."""
    neighbours: NearestNeighbours | None = None
    """Of all words that were considered."""


@dataclass(frozen=True, kw_only=True)
class Induction:
    """Which pairs of the most frequent words of two languages to take as translations."""

    renamed: ClassVar[dict[str, str]] = {  # old names, which settings as texts may still have
        "sure": "confidence",
        "frequent": "rank_penalty",
        "most": "max_pairs",
        "keep": "keep_probability",
    }

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
    confidence: Literal["score", "margin", "mean_margin"] = "score"
    """The confidence of a pair: its CSLS score, or the margin to the next best candidate (the smaller one of both
    directions, or their mean)."""
    rank_penalty: float = 0.0
    """How much more frequent candidates are preferred: this times the logarithm of the rank is subtracted from the
    score. Of the forms of a word the most frequent one is most often the one in dictionaries."""
    threshold: float | None = None
    """Pairs of a lower confidence are left out."""
    share: float = 1.0
    """Only this share of the pairs is taken, those with the highest confidence."""
    max_pairs: int | None = None
    """At most so many pairs are taken, those with the highest confidence."""
    keep_probability: float = 1.0
    """Each score is kept with this probability, else dropped: randomness that lets self-learning leave a poor
    optimum."""

    def __post_init__(self) -> None:
        if self.max_rank < 1:
            raise SettingsError(f"induction: max_rank={self.max_rank}; needed at least 1")
        if self.k < 0:
            raise SettingsError(f"induction: k={self.k}; needed at least 0")
        if self.candidates is not None and self.candidates < self.max_rank:
            raise SettingsError(f"induction: candidates={self.candidates}; needed at least max_rank={self.max_rank}")
        if self.rank_penalty < 0:
            raise SettingsError(f"induction: rank_penalty={self.rank_penalty}; needed at least 0")
        for name in ("share", "keep_probability"):
            if not 0 < getattr(self, name) <= 1:
                raise SettingsError(f"induction: {name}={getattr(self, name)}; needed a number above 0, at most 1")
        if self.max_pairs is not None and self.max_pairs < 1:
            raise SettingsError(f"induction: max_pairs={self.max_pairs}; needed at least 1, or none")
        if self._by_margin and self.keep_probability < 1:
            raise SettingsError(
                "induction: with keep_probability below 1 the next best is not known; "
                f"leave confidence={self.confidence} out"
            )

    @property
    def _by_margin(self) -> bool:
        return self.confidence != "score"

    @property
    def _uses_neighbours(self) -> bool:
        """Whether the best candidates are found from the nearest neighbours."""
        return self.keep_probability == 1 and not self._by_margin

    def __call__(
        self,
        x: Tensor,
        z: Tensor,
        generator: Generator,
        neighbours: NearestNeighbours | None = None,
        *,
        warm_start: NearestNeighbours | None = None,
    ) -> InducedPairs:
        """Induce pairs.  x: (n, d), z: (m, d), unit rows in one space, in order of frequency.

        `neighbours`, at least k of every row, save a search where all rows are considered. `warm_start`, the neighbours
        of the same words under another map, makes the search faster.
        """
        reach = self.candidates or self.max_rank
        whole = reach >= max(len(x), len(z))
        x, z = x[:reach], z[:reach]
        matrix = x @ z.T if self.keep_probability < 1 and len(x) * len(z) <= MAX_CACHED_PRODUCTS else None
        if neighbours is None or not whole:
            size = max(self.k, SHORTLIST_SIZE if self._uses_neighbours else 1)
            neighbours = NearestNeighbours.search(x, z, size, warm_start=warm_start, matrix=matrix)
        pairs, confidence = self._select(*self._pairs(x, z, generator, neighbours, matrix))
        cosines = (neighbours.x.values[:, 0].mean() + neighbours.z.values[:, 0].mean()) / 2
        return InducedPairs(pairs, confidence, float(cosines), neighbours)

    def possible_pairs(self, n: int, m: int) -> int:
        """The largest possible number of pairs between tables of n and m words."""
        sources, targets = min(self.max_rank, n), min(self.max_rank, m)
        return {
            "mutual": min(sources, targets),
            "forward": sources,
            "backward": targets,
            "union": sources + targets,
        }[self.direction]

    def _pairs(
        self, x: Tensor, z: Tensor, generator: Generator, neighbours: NearestNeighbours, matrix: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """All pairs of the direction (p, 2), and their confidence (p,)."""
        r_x, r_z = neighbours.penalties(self.k) if self.k else (0 * side.values[:, 0] for side in neighbours)
        sources = torch.arange(min(self.max_rank, len(x)), device=x.device)
        targets = torch.arange(min(self.max_rank, len(z)), device=z.device)
        parts = []
        if self.direction != "backward":
            parts.append(self._best(sources, x, z, neighbours.x, r_x, r_z, generator, matrix))
        if self.direction == "mutual":
            targets = torch.unique(parts[0][0][:, 1])
        if self.direction != "forward":
            transposed = None if matrix is None else matrix.T
            pairs, confidence = self._best(targets, z, x, neighbours.z, r_z, r_x, generator, transposed)
            parts.append((pairs.flip(1), confidence))
        if self.direction == "mutual":
            return _mutual(*parts, mean=self.confidence == "mean_margin")
        return torch.cat([pairs for pairs, _ in parts]), torch.cat([confidence for _, confidence in parts])

    def _best(
        self,
        words: Tensor,
        queries: Tensor,
        keys: Tensor,
        nearest: TopK,
        r_queries: Tensor,
        r_keys: Tensor,
        generator: Generator,
        matrix: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """The best key of some queries, the words (w,): pairs (query, key) (w, 2), and their confidence (w,)."""
        log_rank = torch.log(torch.arange(len(keys), device=keys.device, dtype=keys.dtype) + RANK_OFFSET)
        bias = csls_bias(r_keys + self.rank_penalty * log_rank)
        if self._uses_neighbours:
            best = best_with_bias(queries[words], keys, bias, TopK(nearest.values[words], nearest.indices[words]))
        elif self.keep_probability == 1:
            best = topk(queries[words], keys, 2, bias=bias)
        else:
            rows = matrix if matrix is None or len(words) == len(matrix) else matrix[words]
            probability = self.keep_probability
            best = best_with_dropout(queries[words], keys, probability, bias=bias, generator=generator, matrix=rows)
        reference = 2 * best.values[:, -1] if self._by_margin else r_queries[words]
        return torch.stack([words, best.indices[:, 0]], 1), 2 * best.values[:, 0] - reference

    def _select(self, pairs: Tensor, confidence: Tensor) -> tuple[Tensor, Tensor]:
        """The pairs that `beyond`, `threshold`, `share` and `max_pairs` leave."""
        if not self.beyond:
            within = (pairs < self.max_rank).all(1)
            pairs, confidence = pairs[within], confidence[within]
        if self.threshold is not None:
            good = confidence >= self.threshold
            pairs, confidence = pairs[good], confidence[good]
        count = round(self.share * len(confidence))
        if self.max_pairs is not None:
            count = min(count, self.max_pairs)
        if count < len(confidence):
            best = confidence.topk(count).indices.sort().values
            pairs, confidence = pairs[best], confidence[best]
        return pairs, confidence


def _mutual(forward: tuple[Tensor, Tensor], backward: tuple[Tensor, Tensor], *, mean: bool) -> tuple[Tensor, Tensor]:
    """The pairs of both directions, with the lower confidence of both, or their mean.

    Backward, the targets are sorted.
    """
    pairs, confidence = forward
    row = torch.searchsorted(backward[0][:, 1].contiguous(), pairs[:, 1].contiguous())
    mutual = backward[0][row, 0] == pairs[:, 0]
    other = backward[1][row]
    return pairs[mutual], ((confidence + other) / 2 if mean else torch.minimum(confidence, other))[mutual]
