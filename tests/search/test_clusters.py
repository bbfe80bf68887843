import pytest
import torch

from bilex.normalize import unit
from bilex.search import clusters as module
from bilex.search.clusters import cluster, probe


def table(rows, rng_seed, *, topics=0):
    generator = torch.Generator().manual_seed(rng_seed)
    rows_ = torch.randn(rows, 12, generator=generator)
    if topics:
        centres = torch.randn(topics, 12, generator=torch.Generator().manual_seed(77))
        rows_ = centres[torch.arange(rows) % topics] + 0.2 * rows_
    return unit(rows_)


@pytest.fixture(autouse=True)
def _small_clusters(monkeypatch):
    monkeypatch.setattr(module, "SIZE", 10)


def test_every_row_is_in_one_cluster():
    rows = table(203, 0)
    found = cluster(rows)
    assert int(found.sizes.sum()) == len(rows)
    assert len(found.sizes) == len(found.centroids) == 20
    assert sorted(map(tuple, found.rows.tolist())) == sorted(map(tuple, rows.tolist()))
    nearest = (found.rows @ found.centroids.T).argmax(1)
    assert nearest.tolist() == torch.arange(20).repeat_interleave(found.sizes).tolist()


@pytest.mark.parametrize("rows", [1, 9, 10, 11, 25])
def test_tables_of_few_rows(rows):
    assert int(cluster(table(rows, 0)).sizes.sum()) == rows


def test_rows_of_one_topic_are_found_together():
    rows, queries = table(200, 0, topics=20), table(60, 1, topics=20)
    found = probe(queries, cluster(rows), 5)
    torch.testing.assert_close(found.values, (queries @ rows.T).topk(5).values)
    torch.testing.assert_close((queries[:, None] * rows[found.indices]).sum(2), found.values)


@pytest.mark.parametrize("n", [1, 10, 100, 203])
@pytest.mark.parametrize("budget", [1, 2000, module.BUDGET])
def test_never_more_than_over_all_rows(n, budget):
    rows, queries = table(203, 0), table(50, 1)
    found, products = probe(queries, cluster(rows), n, budget=budget), queries @ rows.T
    assert found.indices.shape == (50, n)
    assert all(len(set(places)) == n for places in found.indices.tolist())
    torch.testing.assert_close(found.values, products.gather(1, found.indices))
    assert (found.values <= products.topk(n).values + 1e-6).all()
    torch.testing.assert_close(found.values, probe(queries, cluster(rows), n).values)


@pytest.mark.parametrize("n", [1, 10])
@pytest.mark.parametrize(("rows", "size"), [(600, 400), (2000, 400), (4000, 10)])
def test_probe_stays_within_its_budget(monkeypatch, peak_bytes, rows, size, n):
    """Where all queries look into a few large clusters, and where there are many of them."""
    monkeypatch.setattr(module, "SIZE", size)
    made, queries, budget = cluster(table(rows, 0)), table(20_000, 1), 8 * 2**20
    result = 2 * len(queries) * n * (4 + 8)  # in the order of the clusters, and of the table
    assert peak_bytes(lambda: probe(queries, made, n, budget=budget)) - result <= budget


def test_all_rows_are_searched_where_the_clusters_have_too_few():
    rows, queries = table(203, 0), table(50, 1)
    torch.testing.assert_close(probe(queries, cluster(rows), 150).values, (queries @ rows.T).topk(150).values)
    assert probe(queries, cluster(rows), 500).indices.shape == (50, 203)


def test_with_all_clusters_all_is_found():
    rows, queries = table(203, 0), table(50, 1)
    found = probe(queries, cluster(rows), 7, probes=1000)
    torch.testing.assert_close(found.values, (queries @ rows.T).topk(7).values)


@pytest.mark.parametrize("rows", [torch.ones(50, 12), torch.zeros(50, 12)], ids=["equal", "zero"])
def test_rows_that_are_all_the_same(rows):
    found = probe(table(7, 1), cluster(unit(rows)), 3).values
    torch.testing.assert_close(found, (table(7, 1) @ unit(rows).T)[:, :3])


def test_no_queries():
    assert probe(table(0, 0), cluster(table(30, 0)), 3).values.shape == (0, 3)
