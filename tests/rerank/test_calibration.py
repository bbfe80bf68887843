import numpy as np
import pytest

from bilex.evaluation.calibration import calibration_error
from bilex.rerank.calibration import Calibration


def make_scores(words=2000, rng_seed=0):
    """Scores, csls, rows, and right candidates: one of five, and for a third of the words none."""
    rng = np.random.default_rng(rng_seed)
    scores = rng.standard_normal((words, 5)) * 2
    exponents = np.exp(scores)
    shares = exponents / exponents.sum(1, keepdims=True)
    chosen = (shares.cumsum(1) > rng.random((words, 1))).argmax(1)
    gold = (chosen[:, None] == np.arange(5)) & (rng.random(words) > 1 / 3)[:, None]
    return scores, rng.standard_normal((words, 5)), np.arange(words), gold


def test_probabilities_are_calibrated_on_other_words():
    calibration = Calibration.fit(*make_scores())
    scores, csls, sources, gold = make_scores(rng_seed=1)
    found = calibration.probabilities(scores, csls, sources)
    assert calibration_error(found.reshape(-1), gold.reshape(-1)) < 0.03
    best = found.argmax(1)
    assert (best == scores.argmax(1)).mean() > 0.97
    assert found[np.arange(2000), best].mean() == pytest.approx(gold[np.arange(2000), best].mean(), abs=0.04)


def test_a_word_has_the_same_alone_and_among_others():
    scores, csls, sources, gold = make_scores(100)
    calibration = Calibration.fit(scores, csls, sources, gold)
    together = calibration.probabilities(scores, csls, sources)
    alone = calibration.probabilities(scores[7:8], csls[7:8], sources[7:8])
    np.testing.assert_allclose(alone[0], together[7], rtol=1e-12)


def test_one_candidate_and_extreme_scores():
    calibration = Calibration.fit(*make_scores(200))
    assert np.isfinite(calibration.probabilities(np.zeros((2, 1)), np.zeros((2, 1)), np.arange(2))).all()
    found = calibration.probabilities(np.array([[1e6, -1e6]]), np.zeros((1, 2)), np.array([0]))
    assert ((found >= 0) & (found <= 1)).all()
