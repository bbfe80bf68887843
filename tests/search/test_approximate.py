import pytest
import torch

from bilex.normalize import unit
from bilex.search import approximate
from bilex.search.approximate import near_keys
from bilex.search.bfloat16 import Bfloat16


def rows(n, rng_seed):
    return unit(torch.randn(n, 40, generator=torch.Generator().manual_seed(rng_seed)))


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_nearly_the_largest(monkeypatch, rounded, with_bias):
    monkeypatch.setattr(Bfloat16, "is_worthwhile", lambda *_: rounded)
    monkeypatch.setattr(approximate, "BUDGET", 16 * 500 * 10)  # several blocks
    queries, keys = rows(35, 1), rows(500, 2)
    bias = rows(500, 3)[:, 0] if with_bias else None
    scores = queries @ keys.T + (0 if bias is None else bias)
    found = near_keys(queries, keys, 20, bias=bias)
    assert found.shape == (35, 20)
    assert all(len(set(row)) == 20 for row in found.tolist())
    best = scores.topk(20, dim=1)
    hits = (found[:, :, None] == best.indices[:, None]).any(1)
    assert hits[:, :10].all()
    assert hits.float().mean() > 0.95
    assert (scores.gather(1, found).amin(1) > best.values[:, -1] - 0.03).all()
