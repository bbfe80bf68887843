import pytest
import torch

from bilex.evaluation.criterion import (
    agreement,
    mean_cosine,
    mean_csls,
    reciprocal_ranks,
    require_dev,
    standard_error,
    translated_cosine,
)
from bilex.induction.induction import Induction
from bilex.induction.neighbours import NearestNeighbours
from bilex.linalg.procrustes import procrustes
from bilex.normalize import unit


def rows(n, rng_seed, d=8):
    return unit(torch.randn(n, d, generator=torch.Generator().manual_seed(rng_seed)))


def test_standard_error():
    assert standard_error(torch.tensor([1.0, -1.0, 1.0, -1.0])) == 0.5
    assert standard_error(torch.ones(3)) == 0


@pytest.mark.parametrize(("settings", "k"), [({}, 10), ({"k": 2}, 2), ({"k": 1000}, 40)])
def test_reciprocal_ranks(settings, k):
    x, z = rows(40, 0), rows(50, 1)
    dev = torch.tensor([[3, 1], [3, 4], [7, 2], [9, 30], [20, 11], [33, 6]])
    penalty = (z @ x.T).topk(k).values.mean(1)
    scores = 2 * x @ z.T - penalty
    expected = [
        max(1 / (1 + int((scores[word] > scores[word, j]).sum())) for j in targets)
        for word, targets in ((3, (1, 4)), (7, (2,)), (9, (30,)), (20, (11,)), (33, (6,)))
    ]
    assert reciprocal_ranks(x, z, dev, **settings).tolist() == pytest.approx(expected)
    known = NearestNeighbours.search(x, z, k)
    assert reciprocal_ranks(x, z, dev, **settings, neighbours=known).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("n", "m", "listed"), [(30, 50, 10), (40, 49, 10), (40, 50, 3)])
def test_neighbours_of_some_words_only_do_not_count(n, m, listed):
    x, z = rows(40, 0), rows(50, 1)
    dev = torch.tensor([[3, 1], [7, 2], [9, 30]])
    some = NearestNeighbours.search(x[:n], z[:m], listed)
    assert torch.equal(reciprocal_ranks(x, z, dev, neighbours=some), reciprocal_ranks(x, z, dev))


def test_words_without_a_pair_count_in_the_mean_cosine():
    x = rows(10, 0)
    assert mean_cosine(x, x, torch.tensor([[0, 0], [4, 4]]), 10) == pytest.approx(0.2)


@pytest.mark.parametrize("max_rank", [1000, 300, 120])
@pytest.mark.parametrize(("settings", "k"), [({}, 10), ({"k": 2}, 2), ({"k": 6}, 6)])
def test_translated_cosine(max_rank, settings, k):
    x, z = rows(400, 0), rows(500, 1)
    cosines = x @ z.T
    best = (2 * cosines - cosines.T.topk(k).values.mean(1)).argmax(1)
    expected = [float(cosines[i, j]) for i, j in enumerate(best.tolist()) if i < max_rank and j < max_rank]
    for neighbours in (None, NearestNeighbours.search(x, z, 10), NearestNeighbours.search(x, z, 15)):
        found = translated_cosine(x, z, max_rank=max_rank, neighbours=neighbours, **settings)
        assert found == pytest.approx(sum(expected) / len(expected))


def test_translated_cosine_of_nothing():
    x = rows(10, 0)
    assert translated_cosine(x[:1], torch.cat([-x[:1], x[:1]]), max_rank=1) == -1


@pytest.mark.parametrize(("settings", "k"), [({}, 10), ({"k": 5}, 5)])
@pytest.mark.parametrize(("words", "most_hits"), [(1000, 1000), (1000, 2), (25, 1)])
def test_mean_csls_leaves_hubs_out(words, most_hits, settings, k):
    x, z = rows(40, 0), rows(30, 1)
    cosines = x @ z.T
    scores = 2 * cosines - cosines.topk(k).values.mean(1)[:, None] - cosines.T.topk(k).values.mean(1)
    best = scores[:words].argmax(1).tolist()
    kept = [float(scores[i, j]) for i, j in enumerate(best) if best.count(j) <= most_hits]
    assert kept
    assert (len(kept) < len(best)) == (most_hits < 1000)
    assert mean_csls(x, z, words=words, most_hits=most_hits, **settings) == pytest.approx(sum(kept) / len(kept))


def test_mean_csls_of_hubs_alone():
    assert mean_csls(rows(40, 0), rows(1, 1)) == -4


def self_learnt(x, z, rounds=10):
    """What a map that begins with nonsense ends with."""
    generator = torch.Generator().manual_seed(0)
    pairs = torch.stack([torch.randperm(len(x), generator=generator) for _ in range(2)], 1)
    for _ in range(rounds):
        mapped = x @ procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
        pairs = Induction()(mapped, z, generator).pairs
    return pairs


def test_pairs_of_one_piece_agree():
    rotation = torch.linalg.qr(torch.randn(30, 30, generator=torch.Generator().manual_seed(5))).Q
    x = rows(400, 0, d=30)
    z = unit(x @ rotation + 0.05 * rows(400, 1, d=30))
    pairs = torch.arange(400).repeat(2, 1).T
    assert agreement(x, z, pairs, torch.Generator()) > 0.95
    assert agreement(x, z, pairs[:20], torch.Generator()) < 0.95  # too few to fit a map to half of them


@pytest.mark.parametrize(("settings", "k"), [({}, 10), ({"k": 2}, 2)])
@pytest.mark.parametrize(("pairs", "fitted"), [(300, 16), (60, 16), (20, 10)])
def test_agreement_as_written_out(settings, k, pairs, fitted):
    """A map is fitted to some of the pairs, drawn at random: does CSLS under it give back the others?"""
    n = pairs + 10
    x, z = rows(n, 0), unit(rows(n, 0).roll(1, 1) + 0.8 * rows(n, 1))
    pairs = torch.arange(pairs).repeat(2, 1).T
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(3))
    some, others = pairs[order[:fitted]], pairs[order[fitted:]]
    u, _, vt = torch.linalg.svd(x[some[:, 0]].T @ z[some[:, 1]])
    cosines = x @ u @ vt @ z.T
    best = (2 * cosines - cosines.T.topk(k).values.mean(1)).argmax(1)
    expected = sum(int(best[i]) == j for i, j in others.tolist()) / len(others)
    assert 0.1 < expected < 0.9
    assert agreement(x, z, pairs, torch.Generator().manual_seed(3), **settings) == pytest.approx(expected)


def test_agreement_does_not_depend_on_the_order_of_the_pairs():
    """Three of four are of one piece, one is nonsense: wherever those stand, chance takes of both."""
    x = rows(200, 0)
    z = torch.cat([x[:150], rows(50, 1)])
    pairs = torch.arange(200).repeat(2, 1).T
    found = [agreement(x, z, given, torch.Generator().manual_seed(0)) for given in (pairs, pairs.flip(0))]
    assert all(0.4 < share < 0.8 for share in found)


def test_pairs_of_a_map_that_only_suits_itself_do_not():
    x, z = rows(400, 0, d=30), rows(400, 1, d=30)
    pairs = self_learnt(x, z)
    assert len(pairs) > 100
    assert agreement(x, z, pairs, torch.Generator()) < 0.3


def test_a_small_dev_is_added_to_the_pairs():
    pairs, dev = torch.tensor([[0, 1]]), torch.tensor([[2, 3], [2, 4], [5, 6]])
    assert require_dev(pairs, dev, 2) == (pairs, dev)
    joined, none = require_dev(pairs, dev, 3)
    assert joined.tolist() == [[0, 1], [2, 3], [2, 4], [5, 6]]
    assert none is require_dev(pairs, None, 1)[1] is None
