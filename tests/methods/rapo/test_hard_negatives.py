import pytest
import torch

from bilex.methods.rapo.hard_negatives import LIST_FACTOR, HardNegatives
from bilex.normalize import unit
from bilex.training.negatives import hard_negatives

WORDS = torch.arange(0, 60, 2)
GOLD = torch.stack([WORDS, torch.where(WORDS % 4 == 0, WORDS + 1, -1)], 1)
SOME = slice(3, 20)


def rows(n, d=8, rng_seed=0):
    return unit(torch.randn(n, d, generator=torch.Generator().manual_seed(rng_seed)))


@pytest.fixture
def tables():
    """Queries, keys, and a bias."""
    return rows(60), rows(200, rng_seed=1), torch.linspace(-0.1, 0, 200)


def moved(queries, keys, bias, by):
    shift = torch.eye(8) + by * torch.randn(8, 8, generator=torch.Generator().manual_seed(5))
    return unit(queries @ shift), keys, bias.flip(0) * by


def searched(words, tables, gold, count):
    queries, keys, bias = tables
    return hard_negatives(queries[words], keys, gold, count, bias=bias)


@pytest.mark.parametrize("count", [0, 1, 5, 300])
def test_the_first_are_searched(tables, count):
    queries, keys, bias = tables
    found = HardNegatives(WORDS, count)(WORDS[SOME], queries, keys, GOLD[SOME], bias)
    assert torch.equal(found, searched(WORDS[SOME], tables, GOLD[SOME], count))


def test_later_ones_are_the_best_of_the_lists(tables):
    negatives = HardNegatives(WORDS, 5, min_recall=0.5)
    queries, keys, bias = tables
    negatives(WORDS[SOME], queries, keys, GOLD[SOME], bias)
    lists = negatives.near.clone()
    assert lists.shape == (30, LIST_FACTOR * 5 + 2)
    queries, keys, bias = moved(*tables, 0.05)
    # Other words than before, such as those of dev.
    found = negatives(WORDS, queries, keys, GOLD, bias)
    assert torch.equal(negatives.near, lists)
    for place, word in enumerate(WORDS.tolist()):
        scores = {j: float(queries[word] @ keys[j] + bias[j]) for j in lists[place].tolist()}
        best = sorted(scores, key=lambda j: -scores[j])
        assert found[place].tolist() == [j for j in best if j not in GOLD[place]][:5]


def test_lists_that_miss_too_many_are_searched_again(tables):
    negatives = HardNegatives(WORDS, 5)
    queries, keys, bias = tables
    negatives(WORDS, queries, keys, GOLD, bias)
    queries = queries.flip(0)
    found = negatives(WORDS, queries, keys, GOLD, bias)
    assert torch.equal(found, searched(WORDS, (queries, keys, bias), GOLD, 5))


def test_lists_put_back_give_the_same(tables):
    one, other = HardNegatives(WORDS, 5, min_recall=0), HardNegatives(WORDS, 5, min_recall=0)
    queries, keys, bias = tables
    one(WORDS, queries, keys, GOLD, bias)
    other.near = one.near
    queries, keys, bias = moved(*tables, 0.5)
    assert torch.equal(*(each(WORDS, queries, keys, GOLD, bias) for each in (one, other)))
