import pytest
import torch

from bilex.training import negatives
from bilex.training.negatives import gold_lists, hard_negatives, is_gold
from random_tensors import normal

PAIRS = torch.tensor([[5, 1], [2, 0], [5, 3], [2, 0], [9, 4]])


def test_gold_lists():
    sources, gold = gold_lists(PAIRS)
    assert sources.tolist() == [2, 5, 9]
    assert gold.tolist() == [[0, 0], [1, 3], [4, -1]]


def test_is_gold(monkeypatch):
    keys, gold = torch.tensor([[1, 0, 3], [4, 4, 2]]), torch.tensor([[3, 1], [2, -1]])
    assert is_gold(keys, gold).tolist() == [[True, False, True], [False, False, True]]
    monkeypatch.setattr(negatives, "MAX_COMPARISONS", 3)
    assert is_gold(keys, gold).tolist() == [[True, False, True], [False, False, True]]


@pytest.mark.parametrize("count", [0, 1, 3, 20, 50])
def test_as_by_brute_force(count):
    queries, keys, bias = normal(3, 4), normal(20, 4, rng_seed=1), normal(20, rng_seed=2)
    _, gold = gold_lists(PAIRS)
    found = hard_negatives(queries, keys, gold, count, bias=bias)
    assert found.shape == (3, count)
    for i, row in enumerate(queries @ keys.T + bias):
        right = set(gold[i].tolist())
        wrong = [j for j in row.argsort(descending=True).tolist() if j not in right][:count]
        assert found[i].tolist() == wrong + [-1] * (count - len(wrong))
