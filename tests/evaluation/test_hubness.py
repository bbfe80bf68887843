from collections import Counter

import pytest
import torch
from scipy.stats import skew

from bilex.evaluation.hubness import hubness, skewness
from bilex.retrieval import CSLS, Nearest


def slow_counts(queries, candidates, k):
    """N_k by nearest neighbours, one query at a time."""
    counts = Counter()
    for query in queries:
        counts.update(torch.nn.functional.cosine_similarity(query, candidates).topk(k).indices.tolist())
    return [counts[j] for j in range(len(candidates))]


@pytest.fixture(scope="module")
def tables():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(60, 5, generator=generator), torch.randn(40, 5, generator=generator) + 0.5


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("k", [1, 4])
def test_against_counting(tables, direction, k):
    queries, candidates = tables if direction == "forward" else tables[::-1]
    counts = slow_counts(queries, candidates, k)
    found = hubness(Nearest().index(*tables), k=k, direction=direction)
    assert (found.k, found.largest) == (k, max(counts))
    assert found.never == pytest.approx(100 * counts.count(0) / len(counts))
    assert found.skewness == pytest.approx(skew(counts))
    assert [n for _, n in found.hubs] == sorted(counts, reverse=True)[:10]
    assert all(counts[row] == n for row, n in found.hubs)
    assert sum(counts) == k * len(queries)


def test_csls_holds_hubs_back():
    generator = torch.Generator().manual_seed(0)
    x, z = torch.randn(300, 20, generator=generator) + 0.5, torch.randn(300, 20, generator=generator)
    z[7] = x.mean(0)
    plain, held_back = (hubness(retrieval.index(x, z), k=5) for retrieval in (Nearest(), CSLS()))
    assert plain.hubs[0] == (7, plain.largest)
    assert held_back.skewness < plain.skewness
    assert held_back.largest < plain.largest / 2


def test_a_perfectly_even_space_has_no_skewness():
    """Every word retrieved once: the third moment is 0, not undefined."""
    rows = torch.eye(12)
    found = hubness(Nearest().index(rows, rows), k=1)
    assert (found.skewness, found.largest, found.never) == (0, 1, 0)


def test_json_names_all_fields(tables):
    found = hubness(Nearest().index(*tables), k=2).to_json()
    assert found.keys() == {"k", "skewness", "largest", "never", "hubs"}


@pytest.mark.parametrize("seed", range(5))
def test_skewness_is_that_of_scipy_to_the_last_bit(seed):
    counts = torch.randint(0, 50, (1000,), generator=torch.Generator().manual_seed(seed)).double().numpy() ** 3
    assert skewness(counts) == float(skew(counts))
