"""Which linear method RAPO starts from, chosen on words that are held out of its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.evaluation.criterion import reciprocal_ranks
from bilex.mapping import LinearMapping
from bilex.methods.geomm import GeoMM
from bilex.methods.procrustes import Procrustes
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.methods.base import Method

GEOMM = tuple(GeoMM(penalty=(penalty,), refit=False) for penalty in GeoMM.penalty)
CANDIDATES: dict[str, tuple[Method, ...]] = {"geomm": GEOMM, "best": (*GEOMM, VecMap(), Procrustes())}
"""By the setting `start`. The first is taken where there are too few words to choose by, and of equal ones."""
EVERY, MIN_WORDS = 5, 100
"""Every fifth source word of the pairs is held out; with fewer held-out words than this nothing is chosen."""
MAX_RANK = 10_000
"""Words are held out, and looked for, among this many of the most frequent ones: enough to compare linear maps."""


def best_start(
    candidates: tuple[Method, ...], x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, trace: Trace
) -> LinearMapping:
    """The map, fitted to all pairs, of the linear method with the best MRR on held-out words.

    x: (n, d), z: (m, d), unit rows; pairs: (p, 2). The choice draws no random numbers, so it is the same for the same
    pairs.
    """
    words = torch.unique(pairs[:, 0])
    held = torch.isin(pairs[:, 0], words[::EVERY])
    judged = pairs[held & (pairs < MAX_RANK).all(1)]
    best, scores = candidates[0], []
    if len(torch.unique(judged[:, 0])) >= MIN_WORDS:
        for method in candidates:
            mapping = _fit(method, x, z, pairs[~held], generator)
            rows = unit(mapping.source(x[:MAX_RANK])), unit(mapping.target(z[:MAX_RANK]))
            scores.append(float(reciprocal_ranks(*rows, judged).mean()))
        best = candidates[scores.index(max(scores))]
        trace(start=best.name, penalty=str(getattr(best, "penalty", "")), start_mrr=max(scores))
    return _fit(best, x, z, pairs, generator)


def _fit(method: Method, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator) -> LinearMapping:
    mapping = method.fit(x, z, pairs, dev=None, generator=generator, trace=Trace())
    assert isinstance(mapping, LinearMapping)
    return mapping
