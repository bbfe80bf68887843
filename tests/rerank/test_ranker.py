import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from bilex.rerank.ranker import LinearRanker

NAMES = ("useful", "noise", "constant")


def make_lists(words=300, rng_seed=0):
    rng = np.random.default_rng(rng_seed)
    features = rng.standard_normal((words, 6, 3))
    features[:, :, 2] = 1
    scores = 2 * features[:, :, 0] + rng.gumbel(size=(words, 6))
    gold = scores.argmax(1)[:, None] == np.arange(6)
    return features, gold


def test_learns_which_column_is_useful():
    features, gold = make_lists()
    ranker = LinearRanker.fit(NAMES, features, gold, ridge=0.1)
    assert ranker.weights[0] == pytest.approx(2 * features[:, :, 0].std(), rel=0.2)
    assert abs(ranker.weights[1]) < 0.2
    assert ranker.weights[2] == 0
    held_out, right = make_lists(rng_seed=1)
    best = ranker.scores(held_out).argmax(1)
    assert right[np.arange(300), best].mean() > 0.6


def test_weights_minimize_the_loss():
    features, gold = make_lists(40)
    features, gold = features[:, :, :2], gold.copy()
    gold[:5] = False  # words without a right candidate teach nothing
    gold[5:10, :2] = True
    ranker = LinearRanker.fit(NAMES[:2], features, gold, ridge=1.0)
    listed = gold.any(1)
    standardized = (features[listed] - ranker.means) / ranker.deviations

    def loss(weights):
        scores = standardized @ weights
        right = np.where(gold[listed], scores, -np.inf)
        return (logsumexp(scores, axis=1) - logsumexp(right, axis=1)).sum() + weights @ weights

    np.testing.assert_allclose(approx_fprime(ranker.weights, loss), 0, atol=1e-4)


def test_a_large_ridge_leaves_nothing():
    assert np.abs(LinearRanker.fit(NAMES, *make_lists(), ridge=1e9).weights).max() < 1e-5


def test_shares_sum_to_the_score():
    features, gold = make_lists(20)
    ranker = LinearRanker.fit(NAMES, features, gold, ridge=1.0)
    assert ranker.shares(features).shape == features.shape
    np.testing.assert_allclose(ranker.shares(features).sum(2), ranker.scores(features))
