"""Weighted means over the nearest rows: what is known at some points, carried over to all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.topk import topk

if TYPE_CHECKING:
    from torch import Tensor


def nearest_average(queries: Tensor, keys: Tensor, values: Tensor, k: int, *, power: int = 1) -> Tensor:
    """Σⱼ wⱼ vⱼ / Σⱼ wⱼ,  wⱼ = max(0, q · kⱼ)^power, over the k nearest keys of each query: (q, e).

    queries: (q, d), keys: (p, d), unit rows; values: (p, e). A query with no positive cosine gets zeros.
    """
    nearest = topk(queries, keys, min(k, len(keys)))
    weights = nearest.values.clamp_min(0) ** power
    weights = weights / weights.sum(1, keepdim=True).clamp_min(1e-12)
    # An embedding bag does not gather the q x k rows.
    return torch.nn.functional.embedding_bag(nearest.indices, values, per_sample_weights=weights, mode="sum")
