"""Agreement with the known translations of the nearest words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import embedding_bag

from bilex.normalize import unit
from bilex.rerank.signals.base import Columns, Measure, Signal
from bilex.search.products import products
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence
    from bilex.search.lists import TopK

K = 15
"""Nearest words of the dictionary."""
TEMPERATURE = 0.1
"""Of the softmax over their cosines."""


class Neighbours(Signal):
    """The error that the mapping makes on the nearest words of the dictionary is made on this word too.

    With weights w over the K nearest source words i of the dictionary, and t̄ᵢ the mean of their translations:
    cos(q + Σ wᵢ (t̄ᵢ − i), c) − cos(q, c), the corrected cosine; cos(Σ wᵢ t̄ᵢ, c); and the first one from c backward. The
    word itself is not among its neighbours.
    """

    name = "neighbours"
    summary = "agreement with the translations of the nearest words of the dictionary"

    def fit(self, evidence: Evidence) -> Measure:
        """The mean translation of each word of the dictionary, in both directions."""
        x, z = evidence.rows
        pairs = torch.from_numpy(evidence.pairs).to(x.device)
        forward, backward = _Known(x, z, pairs), _Known(z, x, pairs.flip(1))

        def measure(candidates: Candidates) -> Columns:
            sources = torch.from_numpy(candidates.sources).to(x.device)
            rows, places = (torch.from_numpy(array).to(x.device) for array in candidates.distinct)
            targets = torch.from_numpy(candidates.targets).to(x.device, torch.int32)
            near, back_near = forward.nearest(sources), backward.nearest(rows)
            columns = {
                "corrected": products(forward.corrected(sources, near), z, targets),
                "translated": products(forward.translated(near), z, targets),
                "back": products(x[sources], backward.corrected(rows, back_near), places.to(torch.int32)),
            }
            made = {name: column.double().cpu().numpy() for name, column in columns.items()}
            made["corrected"] = made["corrected"] - candidates.cosines
            made["back"] = made["back"] - candidates.cosines
            return made

        return measure


class _Known:
    """The words of the dictionary in one language with the mean of their translations.  pairs: (p, 2)."""

    def __init__(self, x: Tensor, z: Tensor, pairs: Tensor) -> None:
        self._x = x
        self._rows, place, counts = torch.unique(pairs[:, 0], return_inverse=True, return_counts=True)
        sums = z.new_zeros(len(self._rows), z.shape[1]).index_add_(0, place, z[pairs[:, 1]])
        self._means = sums / counts[:, None]
        self._errors = self._means - x[self._rows]

    def nearest(self, rows: Tensor) -> TopK:
        """The nearest words of the dictionary without the word itself, and the weights of their softmax: (q, K + 1)."""
        nearest = topk(self._x[rows], self._x[self._rows], K + 1)
        cosines = nearest.values.masked_fill(self._rows[nearest.indices] == rows[:, None], -torch.inf)
        weights = torch.softmax(cosines / TEMPERATURE, 1)
        return nearest._replace(values=torch.nan_to_num(weights))  # the dictionary may have no other word

    def corrected(self, rows: Tensor, nearest: TopK) -> Tensor:
        """The rows with the mean error of their neighbours, unit rows: (q, e)."""
        return unit(self._x[rows] + _weighted(self._errors, nearest))

    def translated(self, nearest: TopK) -> Tensor:
        """The mean translation of the neighbours, unit rows: (q, e)."""
        return unit(_weighted(self._means, nearest))


def _weighted(values: Tensor, nearest: TopK) -> Tensor:
    """Σ wᵢ vᵢ over the neighbours i, without a copy of their rows: (q, e).  values: (s, e)."""
    return embedding_bag(nearest.indices, values, per_sample_weights=nearest.values.to(values), mode="sum")
