import importlib
from itertools import combinations

import pytest
import torch

from bilex.errors import MissingExtraError
from bilex.induction import cliques
from bilex.induction.cliques import edges, find_cliques
from bilex.normalize import unit

pytest.importorskip("networkx")


@pytest.fixture(scope="module")
def rows():
    return unit(torch.randn(40, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64))


def slow_edges(rows, neighbours, degree):
    cosines = (rows @ rows.T).fill_diagonal_(-2)
    near = [set(row.topk(neighbours).indices.tolist()) for row in cosines]
    mutual = [(i, j) for i, j in combinations(range(len(rows)), 2) if j in near[i] and i in near[j]]
    mutual.sort(key=lambda pair: -cosines[pair])
    return {frozenset(pair) for pair in mutual[: round(degree * len(rows) / 2)]}


def whole_cliques(n, edges):
    """Every set of words that is one and cannot be larger."""
    near = [{j for j in range(n) if frozenset((i, j)) in edges} for i in range(n)]
    whole, larger = set(), {frozenset(edge) for edge in edges}
    while larger:
        grown = {clique | {word} for clique in larger for word in set.intersection(*(near[i] for i in clique))}
        whole |= {clique for clique in larger if not set.intersection(*(near[i] for i in clique))}
        larger = grown
    return whole


def slow_cliques(rows, edges, least):
    """The best one for each central word."""
    best = {}
    for clique in whole_cliques(len(rows), edges):
        if len(clique) >= least:
            mean = unit(rows[list(clique)].mean(0, keepdim=True))[0]
            closeness = {word: float(rows[word] @ mean) for word in clique}
            central = max(closeness, key=closeness.get)
            merit = len(clique), sum(closeness.values()) / len(clique)
            best[central] = max(best.get(central, ((0, 0.0), None)), (merit, mean), key=lambda found: found[0])
    return {central: mean for central, (_, mean) in sorted(best.items())}


@pytest.mark.parametrize(("neighbours", "degree"), [(3, 100.0), (10, 100.0), (10, 4.0), (60, 8.0)])
def test_edges_and_cliques_as_written_out(rows, neighbours, degree):
    expected_edges = slow_edges(rows, min(neighbours, 39), degree)
    assert {frozenset(pair) for pair in edges(rows, neighbours, degree).tolist()} == expected_edges
    found = find_cliques(rows, neighbours=neighbours, degree=degree, min_size=3)
    expected = slow_cliques(rows, expected_edges, 3)
    assert found.central.tolist() == list(expected)
    torch.testing.assert_close(found.vectors, torch.stack(list(expected.values())))


def test_no_more_than_the_largest_are_kept(rows, monkeypatch):
    """So many that those of five words and more are, and no smaller one."""
    expected_edges = slow_edges(rows, 10, 100.0)
    sizes = [len(clique) for clique in whole_cliques(len(rows), expected_edges)]
    assert min(sizes) == 2
    monkeypatch.setattr(cliques, "MAX_CLIQUES", sum(size >= 5 for size in sizes))
    found, expected = find_cliques(rows, neighbours=10, degree=100.0, min_size=2), slow_cliques(rows, expected_edges, 5)
    assert found.central.tolist() == list(expected)
    torch.testing.assert_close(found.vectors, torch.stack(list(expected.values())))
    assert expected.keys() < slow_cliques(rows, expected_edges, 2).keys()


def test_no_cliques(rows):
    found = find_cliques(rows, neighbours=1, degree=10.0, min_size=3)
    assert found.central.shape == (0,)
    assert found.vectors.shape == (0, 4)


def test_without_networkx_the_extra_is_named(rows, monkeypatch):
    def refuse(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"needs the package networkx: pip install 'bilex\[graph\]'"):
        find_cliques(rows, neighbours=1, degree=10.0, min_size=3)
