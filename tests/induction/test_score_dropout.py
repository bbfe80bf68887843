import pytest
import torch

from bilex.induction.score_dropout import best_with_dropout
from bilex.normalize import unit
from bilex.search.bfloat16 import Bfloat16


def rows(n, rng_seed=0):
    return unit(torch.randn(n, 40, generator=torch.Generator().manual_seed(rng_seed)))


def draw(x, z, keep, rng_seed=0, **how):
    return best_with_dropout(x, z, keep, generator=torch.Generator().manual_seed(rng_seed), **how)


@pytest.fixture(params=[False, True], ids=["float32", "bfloat16"])
def precision(request, monkeypatch):
    monkeypatch.setattr(Bfloat16, "is_worthwhile", staticmethod(lambda *_: request.param))


@pytest.mark.usefixtures("precision")
def test_each_score_is_kept_with_a_probability():
    x, z = rows(40), rows(3000, rng_seed=1)
    scores = x @ z.T
    whole = draw(x, z, 1.0)
    assert whole.indices[:, 0].tolist() == scores.argmax(1).tolist()
    some = [draw(x, z, 0.3, rng_seed) for rng_seed in range(200)]
    for found in some:
        torch.testing.assert_close(found.values[:, 0], scores.gather(1, found.indices)[:, 0])
    share = torch.stack([found.indices == whole.indices for found in some]).double().mean()
    assert float(share) == pytest.approx(0.3, abs=0.02)
    second = scores.topk(2).indices[:, 1]
    share = torch.stack([found.indices[:, 0] == second for found in some]).double().mean()
    assert float(share) == pytest.approx(0.7 * 0.3, abs=0.02)


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("keep", [0.2, 0.005])  # with the latter, fewer scores are kept than a shortlist has entries
def test_the_best_by_score_and_bias_of_those_kept(keep):
    x, z, bias = rows(30), rows(2500, rng_seed=1), torch.linspace(-0.2, 0.2, 2500)
    numbers = torch.randint(-(2**63), 2**63 - 1, (30 * 2080 // 4,), generator=torch.Generator().manual_seed(0))
    more = torch.randint(-(2**63), 2**63 - 1, (30 * 420 // 4,), generator=_after(30 * 2080 // 4))
    drawn = torch.cat([numbers.view(torch.int16).view(30, 2080), more.view(torch.int16).view(30, 420)], 1)
    scores = (x @ z.T + bias).masked_fill(drawn < round((1 - keep) * 2**16) - 2**15, -torch.inf)
    found = draw(x, z, keep, bias=bias)
    assert found.indices[:, 0].tolist() == scores.argmax(1).tolist()
    torch.testing.assert_close(found.values[:, 0], scores.amax(1))


@pytest.mark.parametrize(("n", "m"), [(7, 5), (5, 5), (3, 2), (7, 6), (4, 5)])
def test_blocks_of_any_size(n, m):
    """Random numbers are drawn four at a time; what is left of the last four is not used."""
    x, z = rows(n), rows(m, rng_seed=1)
    numbers = torch.randint(-(2**63), 2**63 - 1, (-(-n * m // 4),), generator=torch.Generator().manual_seed(0))
    kept = numbers.view(torch.int16)[: n * m].view(n, m) >= 0
    scores = (x @ z.T).masked_fill(~kept, -torch.inf)
    found, some = draw(x, z, 0.5), kept.any(1)
    assert int(some.sum()) > 0
    assert found.indices[some, 0].tolist() == scores.argmax(1)[some].tolist()
    torch.testing.assert_close(found.values[some, 0], scores.amax(1)[some])


def _after(count):
    generator = torch.Generator().manual_seed(0)
    torch.randint(-(2**63), 2**63 - 1, (count,), generator=generator)
    return generator


def test_products_that_are_known_change_nothing():
    x, z, bias = rows(2600), rows(2500, rng_seed=1), torch.linspace(-0.2, 0.2, 2500)
    found, known = draw(x, z, 0.2, bias=bias), draw(x, z, 0.2, bias=bias, matrix=x @ z.T)
    assert (found.indices == known.indices).double().mean() > 0.999  # but for rounding
    torch.testing.assert_close(found.values, known.values)
    turned = draw(z, x, 0.2, matrix=(x @ z.T).T)
    torch.testing.assert_close(turned.values, draw(z, x, 0.2).values)


def test_where_all_scores_are_dropped_any_key_is_taken():
    found = draw(rows(300), rows(2, rng_seed=1), 0.01)
    assert set(found.indices[:, 0].tolist()) <= {0, 1}
    assert float(found.values.median()) < -1000
