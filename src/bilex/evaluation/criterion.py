"""Criteria for model selection: quality of two mapped tables, on dev pairs or without a dictionary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from bilex.linalg.procrustes import procrustes
from bilex.retrieval import CSLS, Index
from bilex.retrieval.csls import csls_bias, nearest_mean
from bilex.search.ranks import ranks
from bilex.search.topk import topk
from bilex.search.with_bias import best_with_bias
from bilex.training.negatives import gold_lists

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.induction.neighbours import NearestNeighbours
    from bilex.search.lists import TopK


def reciprocal_ranks(
    x: Tensor, z: Tensor, dev: Tensor, *, k: int = 10, neighbours: NearestNeighbours | None = None
) -> Tensor:
    """1 / rank of the best gold translation of each source word of dev, by CSLS among all words: (s,).

    x: (n, d), z: (m, d), unit rows; dev: (p, 2). `neighbours`, at least k per row, save a search if they are of all
    words.
    """
    sources, gold = gold_lists(dev)
    if neighbours is not None and neighbours.are_of(x, z, k):
        found = ranks(x[sources], z, gold, bias=csls_bias(neighbours.penalties(k)[1]))
    else:
        found = Index(CSLS(k=k), x, z).ranks(x[sources], gold)
    return 1 / found.double()


def require_dev(pairs: Tensor, dev: Tensor | None, least: int) -> tuple[Tensor, Tensor | None]:
    """(pairs, dev); if dev (q, 2) has fewer source words than `least`, it is added to the pairs, and there is none."""
    if dev is not None and len(torch.unique(dev[:, 0])) < least:
        return torch.cat([pairs, dev]), None
    return pairs, dev


def standard_error(differences: Tensor) -> float:
    """Standard error of the mean of differences between two maps, one per word: (s,)."""
    return float(differences.std(correction=0)) / math.sqrt(len(differences))


def mean_cosine(x: Tensor, z: Tensor, pairs: Tensor, words: int) -> float:
    """Σ cosine of the induced pairs (p, 2) / number of words that could have a pair: higher is better.

    Words without a pair count as 0, so a map with few but good pairs gets a low value.
    """
    return float((x[pairs[:, 0]] * z[pairs[:, 1]]).sum()) / words


def translated_cosine(
    x: Tensor, z: Tensor, *, max_rank: int = 10_000, k: int = 10, neighbours: NearestNeighbours | None = None
) -> float:
    """Mean cosine of the most frequent source words with their translations by CSLS: the criterion of MUSE.

    x: (n, d), z: (m, d), unit rows. All target words are candidates. Only translations among the `max_rank` most
    frequent target words count; -1 if there are none. `neighbours`, at least k per row, save a search.
    """
    if neighbours is None:
        best = _best(x[:max_rank], x, z, k)
    else:
        bias = csls_bias(neighbours.penalties(k)[1])
        best = best_with_bias(x[:max_rank], z, bias, neighbours.x.view(0, max_rank))
    targets = best.indices[:, 0]
    sources = (targets < max_rank).nonzero()[:, 0]
    cosines = (x[sources] * z[targets[sources]]).sum(1, dtype=torch.float64)
    return float(cosines.mean()) if len(sources) else -1.0


def mean_csls(x: Tensor, z: Tensor, *, words: int = 10_000, most_hits: int = 20, k: int = 10) -> float:
    """Mean CSLS score of the most frequent source words with their best targets; needs no dictionary.

    x: (n, d), z: (m, d), unit rows in order of frequency. Targets that are the best of more than `most_hits` of these
    words are hubs, and left out together with their words. If no word remains, the result is -4, the lowest score.

    Patra, Moniz, Garg, Gormley and Neubig (2019). Bilingual lexicon induction with semi-supervision in non-isometric
    embedding spaces. ACL.
    """
    own = nearest_mean(x[:words], z, k)
    best = _best(x[:words], x, z, k)
    hits = torch.bincount(best.indices[:, 0], minlength=len(z))
    no_hub = hits[best.indices[:, 0]] <= most_hits
    return float((2 * best.values[:, 0] - own)[no_hub].double().mean()) if no_hub.any() else -4.0


def agreement(x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, *, k: int = 10) -> float:
    """Consistency of induced pairs (p, 2): the share of held-out pairs that a map fitted to other pairs finds again.

    The map is orthogonal, and fitted to 2d pairs drawn at random (half of all, if there are fewer). True translations
    agree with each other, so most are found again. A wrong map fits its own pairs only because it was fitted to them:
    most held-out pairs are not found again.
    """
    pairs = pairs[torch.randperm(len(pairs), generator=generator).to(pairs.device)]
    fitted = min(2 * x.shape[1], len(pairs) // 2)
    mapped = x @ procrustes(*(rows[pairs[:fitted, i]] for i, rows in enumerate((x, z))))
    targets = _best(mapped[pairs[fitted:, 0]], mapped, z, k).indices[:, 0]
    return float((targets == pairs[fitted:, 1]).double().mean())


def _best(queries: Tensor, x: Tensor, z: Tensor, k: int) -> TopK:
    """The best target by CSLS of each query, with score cos − r / 2: (q, 1)."""
    return topk(queries, z, 1, bias=csls_bias(nearest_mean(z, x, k)))
