import math

import pytest
import torch

from bilex.explorer.chart import plane


def test_points_on_the_directions_in_which_they_differ_most():
    """Most along the third axis, less along the first; the second shows only in what is lost."""
    rows = torch.tensor([[0.0, 1, 4], [0, -1, -4], [2, 0, 0], [-2, 0, 0]]) + torch.tensor([5.0, 6, 7])
    made = plane(rows)
    first, second = torch.tensor(made.points).T
    length = math.sqrt(17)
    assert first.abs().tolist() == pytest.approx([length, length, 0, 0], abs=1e-6)
    assert second.abs().tolist() == pytest.approx([0, 0, 2, 2], abs=1e-6)
    assert made.shown == pytest.approx(1)
    lost = plane(rows + torch.tensor([[0, 0, 0], [0, 0, 0], [0, 0.5, 0], [0, 0.5, 0]]))
    assert 0.9 < lost.shown < 1


def test_the_share_that_is_shown():
    rows = torch.diag(torch.tensor([4.0, 3, 2, 1]))
    rows = torch.cat([rows, -rows])
    assert plane(rows).shown == pytest.approx((16 + 9) / (16 + 9 + 4 + 1))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_number_of_a_direction_is_positive(sign):
    rows = sign * torch.tensor([[3.0, 0], [-1, 1], [-2, -1]])
    points = torch.tensor(plane(rows).points)
    for column in points.T:
        assert column[column.abs().argmax()] > 0
    torch.testing.assert_close(points, torch.tensor(plane(-rows).points))


def test_equal_points_lie_on_one_place_and_all_is_shown():
    made = plane(torch.ones(3, 4))
    assert made == ([[0.0, 0.0]] * 3, 1.0)
