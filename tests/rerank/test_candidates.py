import numpy as np
import torch

from bilex.rerank.candidates import BACKWARD, find_candidates, search_backward
from bilex.retrieval import CSLS


def make_index(n=60, m=50, d=8):
    generator = torch.Generator().manual_seed(0)
    return CSLS(k=5).index(torch.randn(n, d, generator=generator), torch.randn(m, d, generator=generator))


def slow_scores(index):
    cosines = index.x.double() @ index.z.double().T
    r_x, r_z = cosines.topk(5, 1).values.mean(1), cosines.topk(5, 0).values.mean(0)
    return cosines, 2 * cosines - r_x[:, None] - r_z


def test_figures_are_those_of_the_definition():
    index, rows = make_index(), np.array([3, 40, 7])
    found = find_candidates(index, rows, 6)
    cosines, scores = slow_scores(index)
    best = scores[rows].topk(6)
    assert found.targets.tolist() == best.indices.tolist()
    np.testing.assert_allclose(found.scores, best.values, atol=1e-5)
    np.testing.assert_allclose(found.cosines, cosines[rows].gather(1, best.indices), atol=1e-5)
    for i, row in enumerate(rows.tolist()):
        for place, j in enumerate(found.targets[i].tolist()):
            order = scores[:, j].argsort(descending=True).tolist()
            assert found.back_ranks[i, place] == min(order.index(row), BACKWARD)
            np.testing.assert_allclose(found.back_scores[i, place], scores[:, j].max(), atol=1e-5)


def test_backward_lists_of_all_targets_give_the_same():
    index, rows = make_index(), np.arange(20)
    whole = search_backward(index, torch.arange(50))
    one, other = find_candidates(index, rows, 6), find_candidates(index, rows, 6, backward=whole)
    assert one.back_ranks.tolist() == other.back_ranks.tolist()
    assert one.back_scores.tolist() == other.back_scores.tolist()


def test_only_the_first_words():
    found = find_candidates(make_index(), np.array([0, 1]), 100, first=7)
    assert sorted(found.targets[0].tolist()) == list(range(7))
    assert found.shape == (2, 7)


def test_distinct_and_pairs():
    found = find_candidates(make_index(), np.arange(9), 4)
    rows, places = found.distinct
    assert (rows[places] == found.targets).all()
    words, own = found.pairs()
    assert words.tolist() == np.repeat(np.arange(9), 4).tolist()
    assert (rows[own] == found.targets.reshape(-1)).all()
    assert (found.head(2).targets == found.targets[:, :2]).all()
