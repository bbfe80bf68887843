import numpy as np
import pytest

from bilex.evaluation.calibration import calibration_error
from bilex.rerank.any_right import AnyRight


def make_lists(words=3000, *, independent, rng_seed=0):
    """Calibrated confidences of four candidates, best first, and which are right: each by itself, or at most one."""
    rng = np.random.default_rng(rng_seed)
    confidences = np.sort(rng.dirichlet(np.full(5, 0.5), words)[:, :4], axis=1)[:, ::-1]
    if independent:
        return confidences, rng.random((words, 4)) < confidences
    reached = confidences.cumsum(1) > rng.random((words, 1))
    return confidences, np.diff(reached, axis=1, prepend=False)


@pytest.mark.parametrize("independent", [True, False])
def test_is_calibrated_for_each_number_of_candidates(independent):
    any_right = AnyRight.fit(*make_lists(independent=independent))
    confidences, gold = make_lists(independent=independent, rng_seed=1)
    found = any_right.probabilities(confidences)
    for n in range(4):
        assert calibration_error(found[:, n], gold[:, : n + 1].any(1)) < 0.06


def test_independent_candidates_need_no_correction():
    weights = AnyRight.fit(*make_lists(20_000, independent=True)).weights
    np.testing.assert_allclose(weights, np.tile([1.0, 0.0], (4, 1)), atol=0.1)


def test_without_words_they_are_taken_to_be_independent():
    any_right = AnyRight.fit(np.zeros((0, 3)), np.zeros((0, 3), bool))
    found = any_right.probabilities(np.array([[0.5, 0.5, 0.2]]))
    np.testing.assert_allclose(found, [[0.5, 0.75, 0.8]], atol=1e-4)


def test_the_first_has_its_own_probability_and_more_candidates_never_less():
    confidences, gold = make_lists(100, independent=False)
    found = AnyRight.fit(confidences, gold).probabilities(confidences)
    np.testing.assert_allclose(found[:, 0], confidences[:, 0], atol=1e-5)
    assert (np.diff(found, axis=1) >= 0).all()
    assert AnyRight.fit(confidences, gold).probabilities(np.array([[1.0, 0.0, 0.0, 0.0]])).max() <= 1
