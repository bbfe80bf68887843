import pytest
import torch

from bilex.methods.rapo import penalties as penalty
from bilex.methods.rapo.penalties import ApproximatePenalties
from bilex.normalize import unit
from bilex.search import clusters
from bilex.search.bfloat16 import Bfloat16


def rows(n, d=8, rng_seed=0):
    return unit(torch.randn(n, d, generator=torch.Generator().manual_seed(rng_seed)))


def slow(keys, queries, k):
    return (keys @ queries.T).topk(min(k, len(queries)), dim=1).values.mean(1)


def turned(table, by):
    return unit(table @ (torch.eye(8) + by * torch.randn(8, 8, generator=torch.Generator().manual_seed(5))))


@pytest.mark.parametrize("k", [1, 5, 300])
def test_first_search_is_exact(k):
    keys, queries = rows(90), rows(120, rng_seed=1)
    found, error = ApproximatePenalties(k)(keys, queries)
    torch.testing.assert_close(found, slow(keys, queries, k))
    assert error == pytest.approx(0, abs=1e-6)


def test_kept_lists_are_scored_anew_without_a_search():
    keys, queries = rows(90), rows(120, rng_seed=1)
    penalties = ApproximatePenalties(3, list_size=20, tolerance=0.1)
    penalties(keys, queries)
    lists = penalties.near.clone()
    keys, queries = turned(keys, 0.02), turned(queries, -0.02)
    found, error = penalties(keys, queries)
    kept = torch.stack([(queries[lists[i].long()] @ key).topk(3).values.mean() for i, key in enumerate(keys)])
    torch.testing.assert_close(found, kept)
    exact = slow(keys, queries, 3)
    assert error == pytest.approx(float((exact - found).mean()), abs=1e-6)  # all 90 keys are in the sample
    assert torch.equal(penalties.near, lists)


def test_stale_lists_are_searched_again():
    keys, queries = rows(90), rows(120, rng_seed=1)
    penalties = ApproximatePenalties(3, list_size=4, tolerance=1e-3)
    penalties(keys, queries)
    moved = keys.flip(0)
    found, error = penalties(moved, queries)
    torch.testing.assert_close(found, slow(moved, queries, 3))
    assert error == pytest.approx(0, abs=1e-6)


def test_lists_put_back_give_the_same_to_the_bit():
    keys, queries = rows(90), rows(120, rng_seed=1)
    one, other = ApproximatePenalties(3, tolerance=1), ApproximatePenalties(3, tolerance=1)
    one(keys, queries)
    other.near = one.near
    moved = turned(keys, 0.1)
    assert torch.equal(one(moved, queries)[0], other(moved, queries)[0])


@pytest.fixture
def _all_tables_are_large(monkeypatch):
    monkeypatch.setattr(penalty, "CLUSTER_SEARCH_ROWS", 1)
    monkeypatch.setattr(penalty, "CLUSTERS_PER_KEY", 6)
    monkeypatch.setattr(clusters, "CLUSTER_SIZE", 10)


@pytest.mark.usefixtures("_all_tables_are_large")
def test_in_large_tables_the_near_clusters_are_searched_and_the_error_is_told():
    keys, queries = rows(90), rows(400, rng_seed=1)
    penalties = ApproximatePenalties(3, list_size=8, tolerance=0.5)
    found, error = penalties(keys, queries)
    exact = slow(keys, queries, 3)
    assert 0 < error < 0.1
    assert error == pytest.approx(float((exact - found).mean()), abs=1e-6)
    assert (found <= exact + 1e-6).all()
    torch.testing.assert_close(penalties(keys, queries)[0], found)


@pytest.mark.usefixtures("_all_tables_are_large")
def test_what_clusters_miss_too_much_of_is_searched_in_full():
    keys, queries = rows(90), rows(400, rng_seed=1)
    found, error = ApproximatePenalties(3, list_size=8, tolerance=1e-9)(keys, queries)
    torch.testing.assert_close(found, slow(keys, queries, 3))
    assert error == 0


def test_lists_from_rounded_scores(monkeypatch):
    """In bfloat16 a list has some keys that are not among the nearest; the nearest of all it has."""
    monkeypatch.setattr(Bfloat16, "is_worthwhile", lambda *_: True)
    keys, queries = rows(90), rows(400, rng_seed=1)
    found, error = ApproximatePenalties(3, list_size=16)(keys, queries)
    torch.testing.assert_close(found, slow(keys, queries, 3), rtol=0, atol=1e-3)
    assert error < 1e-3
