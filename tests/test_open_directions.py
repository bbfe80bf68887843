"""The figure everything is measured against: Procrustes on the open English-French data."""

import pytest

from bilex import align
from open_directions import DIRECTIONS, missing_data_reason


@pytest.fixture(scope="module")
def directions():
    if reason := missing_data_reason():
        pytest.skip(reason)
    return DIRECTIONS


def test_procrustes_on_english_french(directions):
    """As `python benchmarks/procrustes_table.py` prints it."""
    direction = directions["en-fr"]
    result = align(*direction.load(), direction.train(), method="procrustes", vectors_only=True).evaluate(
        direction.test()
    )
    scores = result.scores
    assert (scores.p_at_1, scores.p_at_5, scores.p_at_10) == pytest.approx((80.7, 91.2, 93.5), abs=0.2)
    assert (result.covered, result.sources, result.train_overlap) == (974, 1500, 0)
