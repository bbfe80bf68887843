from types import SimpleNamespace

import numpy as np
import pytest

from bilex.evaluation.calibration import calibration_error
from bilex.rerank.calibration import Calibration


def make_lists(words=2000, rng_seed=0):
    """Scores, and lists with one right candidate of five, or with none for a third of the words."""
    rng = np.random.default_rng(rng_seed)
    scores = rng.standard_normal((words, 5)) * 2
    exponents = np.exp(scores)
    shares = exponents / exponents.sum(1, keepdims=True)
    chosen = (shares.cumsum(1) > rng.random((words, 1))).argmax(1)
    gold = (chosen[:, None] == np.arange(5)) & (rng.random(words) > 1 / 3)[:, None]
    csls, targets = rng.standard_normal((words, 5)), rng.integers(0, 5000, (words, 5))
    return scores, SimpleNamespace(csls=csls, sources=np.arange(words), targets=targets, gold=gold)


def rate(calibration, scores, lists, rows=slice(None)):
    return calibration.probabilities(scores[rows], lists.csls[rows], lists.sources[rows], lists.targets[rows])


def test_probabilities_are_calibrated_on_other_words():
    calibration = Calibration.fit(*make_lists())
    scores, lists = make_lists(rng_seed=1)
    found = rate(calibration, scores, lists)
    assert calibration_error(found.reshape(-1), lists.gold.reshape(-1)) < 0.03
    best = found.argmax(1)
    assert (best == scores.argmax(1)).mean() > 0.97
    assert found[np.arange(2000), best].mean() == pytest.approx(lists.gold[np.arange(2000), best].mean(), abs=0.04)


def test_words_that_are_rarer_than_those_learnt_from():
    """Of two candidates the first is always best, and the rarer the word is, the less often it is right."""
    rng = np.random.default_rng(0)
    sources = np.sort(rng.integers(0, 20_000, 6000))
    right = rng.random(6000) < 0.9 - 0.3 * np.log1p(sources / 5000)
    scores = np.tile([1.0, 0.0], (6000, 1)) + rng.standard_normal((6000, 1))
    lists = SimpleNamespace(
        csls=np.zeros((6000, 2)),
        sources=sources,
        targets=np.zeros((6000, 2), np.int64),
        gold=np.column_stack([right, np.zeros(6000, bool)]),
    )
    frequent = SimpleNamespace(**{name: array[:3000] for name, array in vars(lists).items()})
    found = rate(Calibration.fit(scores[:3000], frequent), scores, lists, slice(3000, None))
    assert found[:, 0].mean() == pytest.approx(right[3000:].mean(), abs=0.06)
    far = rate(
        Calibration.fit(scores[:3000], frequent),
        scores[:1],
        SimpleNamespace(csls=np.zeros((1, 2)), sources=np.array([200_000]), targets=np.zeros((1, 2), np.int64)),
    )
    assert far[0, 0] > 0.05


def test_a_word_has_the_same_alone_and_among_others():
    scores, lists = make_lists(100)
    calibration = Calibration.fit(scores, lists)
    together, alone = rate(calibration, scores, lists), rate(calibration, scores, lists, slice(7, 8))
    np.testing.assert_allclose(alone[0], together[7], rtol=1e-12)


def test_one_candidate_and_extreme_scores():
    calibration = Calibration.fit(*make_lists(200))
    none = np.zeros((2, 1), np.int64)
    assert np.isfinite(calibration.probabilities(np.zeros((2, 1)), np.zeros((2, 1)), np.arange(2), none)).all()
    found = calibration.probabilities(np.array([[1e6, -1e6]]), np.zeros((1, 2)), np.array([0]), none.T)
    assert ((found >= 0) & (found <= 1)).all()
