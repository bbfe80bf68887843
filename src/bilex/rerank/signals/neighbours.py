"""Agreement with the known translations of the nearest words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.normalize import unit
from bilex.rerank.signals.base import Columns, Measure, Signal
from bilex.search.products import products
from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.rerank.candidates import Candidates
    from bilex.rerank.evidence import Evidence

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
            corrected, translated = forward.predict(sources)
            back, _ = backward.predict(rows)
            columns = {
                "corrected": products(corrected, z, targets),
                "translated": products(translated, z, targets),
                "back": products(x[sources], back, places.to(torch.int32)),
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

    def predict(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The corrected vector, and the mean translation of the neighbours, unit rows: (q, e) each."""
        queries = self._x[rows]
        nearest = topk(queries, self._x[self._rows], K + 1)
        cosines = nearest.values.masked_fill(self._rows[nearest.indices] == rows[:, None], -torch.inf)
        weights = torch.softmax(cosines / TEMPERATURE, 1)
        weights = torch.nan_to_num(weights)  # the word itself may be the only one of the dictionary
        error, mean = ((weights[:, None] @ values[nearest.indices])[:, 0] for values in (self._errors, self._means))
        return unit(queries + error), unit(mean)
