import numpy as np
import pytest

from bilex.errors import TableError
from bilex.io.directions import find_directions, require_directions

ROWS = np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)
WORDS = [f"w{i}" for i in range(len(ROWS))]
ONE = np.tile(ROWS[:1], (300, 1))
LENGTHS = np.linspace(0.1, 7, 300, dtype=np.float32)[:, None]


@pytest.mark.parametrize("scale", [1, 1e37, 1e-40])
def test_real_vectors(scale):
    found = find_directions(ROWS * np.float32(scale))
    assert (found.rows, found.zero, found.repeated, found.all_same) == (300, 0, 0, False)
    assert found.fatal() is None
    assert found.doubts(WORDS) == []
    require_directions("t.vec", ROWS)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (ONE, "all 300 rows have the same direction"),
        (ONE * LENGTHS, "all 300 rows have the same direction"),
        (ONE * np.float32(1e37), "all 300 rows have the same direction"),
        (ONE + 1e-7 * ROWS, "all 300 rows have the same direction"),
        (np.vstack([0 * ONE[:5], ONE[:95]]), "all 100 rows have the same direction or are zero .5."),
        (0 * ONE, "all 300 rows are zero"),
    ],
)
def test_one_direction_or_none(rows, reason):
    with pytest.raises(TableError, match=rf"^t\.vec: {reason}.*; needed vectors that differ .* `bilex inspect`"):
        require_directions("t.vec", rows)


def test_a_row_alone_and_numbers_that_are_not_finite_are_for_others_to_judge():
    require_directions("t.vec", ROWS[:1])
    wrong = ROWS.copy()
    wrong[3, 2], wrong[5, 1] = np.nan, np.inf
    assert find_directions(wrong).fatal() is None


def test_some_rows_are_repeated_or_zero():
    few = np.vstack([ROWS, ROWS[:5], 2 * ROWS[5:10]])
    assert find_directions(few).repeated == 10
    assert find_directions(few).doubts(WORDS) == []
    many = np.vstack([ROWS, 3 * ROWS[:20], 0 * ROWS[:7]])
    assert find_directions(many).doubts(WORDS) == [
        "has 20 rows with the direction of another one, and 7 of zeros, among 327: these words cannot be distinguished"
    ]


def test_a_row_that_is_far_too_long():
    long = ROWS.copy()
    long[4] *= 1e20
    (doubt,) = find_directions(long).doubts(WORDS)
    assert "times as long as the median (row 5, 'w4'): it may be damaged" in doubt
