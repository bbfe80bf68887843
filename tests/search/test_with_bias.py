import pytest
import torch

from bilex.search import with_bias as contenders
from bilex.search.topk import topk
from bilex.search.with_bias import best_of_near


def tables(q, m, d, rng_seed=0):
    generator = torch.Generator().manual_seed(rng_seed)
    return (torch.nn.functional.normalize(torch.randn(n, d, generator=generator), dim=1) for n in (q, m))


@pytest.mark.parametrize("listed", [1, 3, 15])
@pytest.mark.parametrize("spread", [0.0, 0.05, 1.0, 100.0])
@pytest.mark.parametrize("q", [60, 300])
def test_the_best_of_all(q, spread, listed, monkeypatch):
    monkeypatch.setattr(contenders, "AT_ONCE", 7)
    queries, keys = tables(q, 200, 8)
    bias = spread * torch.randn(200, generator=torch.Generator().manual_seed(1))
    found = best_of_near(queries, keys, bias, topk(queries, keys, listed))
    expected = topk(queries, keys, 1, bias=bias)
    assert torch.equal(found.indices, expected.indices)
    torch.testing.assert_close(found.values, expected.values)


@pytest.mark.parametrize("k", [1, 10])
def test_the_best_by_csls(k):
    queries, keys = tables(300, 250, 20, rng_seed=3)
    near, back = topk(queries, keys, 15), topk(keys, queries, k)
    bias = -back.values.mean(1) / 2
    assert torch.equal(best_of_near(queries, keys, bias, near).indices, topk(queries, keys, 1, bias=bias).indices)


def test_few_keys_are_searched_again(monkeypatch):
    searched = []
    monkeypatch.setattr(
        contenders, "topk", lambda q, k, n, **how: searched.append(len(q) * len(k)) or topk(q, k, n, **how)
    )
    queries, keys = tables(2000, 2000, 20)
    keys = torch.nn.functional.normalize(queries + 0.2 * keys, dim=1)
    near, back = topk(queries, keys, 15), topk(keys, queries, 10)
    best_of_near(queries, keys, -back.values.mean(1) / 2, near)
    assert sum(searched) < 0.1 * len(queries) * len(keys)


def test_progress_goes_to_the_end_and_never_beyond(monkeypatch):
    monkeypatch.setattr(contenders, "AT_ONCE", 7)
    (queries, keys), seen = tables(60, 200, 8), []
    bias = torch.linspace(-1, 1, 200)
    best_of_near(queries, keys, bias, topk(queries, keys, 3), progress=lambda done, of: seen.append((done, of)))
    assert len(seen) > 5
    assert seen == sorted(seen)
    assert seen[-1] == (60, 60)


def test_one_outlier_does_not_hide_behind_its_low_product():
    """The key with by far the highest bias is the farthest of all."""
    queries, keys = tables(1, 50, 4)
    keys[7] = -queries[0]
    bias = torch.zeros(50)
    bias[7] = 3.0
    assert best_of_near(queries, keys, bias, topk(queries, keys, 2)).indices.item() == 7


@pytest.mark.parametrize(("q", "m"), [(0, 5), (3, 1), (3, 5)])
def test_small_tables(q, m):
    queries, keys = tables(q, m, 4)
    bias = torch.linspace(0, 2, m)
    found = best_of_near(queries, keys, bias, topk(queries, keys, 15))
    assert torch.equal(found.indices, topk(queries, keys, 1, bias=bias).indices)
