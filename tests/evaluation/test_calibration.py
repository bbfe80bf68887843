import numpy as np
import pytest

from bilex.evaluation.calibration import Bin, calibration_error, reliability


def test_by_hand():
    probabilities, right = np.array([0.1, 0.9, 0.95, 1.0]), np.array([False, True, False, True])
    found = reliability(probabilities, right)
    assert found[0] == Bin(0.1, 0.2, 1, pytest.approx(0.1), 0.0)
    assert found[1] == Bin(0.9, 1.0, 3, pytest.approx(0.95), pytest.approx(2 / 3))
    assert len(found) == 2
    assert calibration_error(probabilities, right) == pytest.approx(0.25 * 0.1 + 0.75 * (0.95 - 2 / 3))


def test_true_probabilities_have_a_small_error():
    rng = np.random.default_rng(0)
    probabilities = rng.random(20_000)
    assert calibration_error(probabilities, rng.random(20_000) < probabilities) < 0.02
    assert calibration_error(probabilities, rng.random(20_000) < probabilities**3) > 0.1


def test_nothing():
    assert calibration_error(np.empty(0), np.empty(0, bool)) == 0
