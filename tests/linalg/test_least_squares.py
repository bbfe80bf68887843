import pytest
import torch

from bilex.linalg.least_squares import evenly_spread, least_squares
from random_tensors import normal


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 5.0])
def test_solves_the_normal_equations(penalty):
    x, z = normal(40, 6), normal(40, 4, rng_seed=1)
    expected = torch.linalg.solve(x.T @ x + penalty * torch.eye(6, dtype=x.dtype), x.T @ z)
    torch.testing.assert_close(least_squares(x, z, penalty), expected)


@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_no_other_matrix_is_better(penalty):
    x, z = normal(30, 5), normal(30, 5, rng_seed=1)

    def cost(w):
        return float((x @ w - z).square().sum() + penalty * w.square().sum())

    w = least_squares(x, z, penalty)
    assert cost(w) < min(cost(w + 0.01 * normal(5, 5, rng_seed=i)) for i in range(2, 50))


def test_of_all_that_fit_the_smallest():
    x, z = normal(3, 6), normal(3, 6, rng_seed=1)
    w = least_squares(x, z)
    torch.testing.assert_close(x @ w, z)
    nothing = torch.eye(6, dtype=x.dtype) - torch.linalg.pinv(x) @ x  # adding this to W changes no row of X
    for i in range(2, 20):
        other = w + 0.1 * nothing @ normal(6, 6, rng_seed=i)
        torch.testing.assert_close(x @ other, z)
        assert w.norm() < other.norm()


def test_a_small_penalty_comes_near_to_none():
    x, z = normal(3, 6), normal(3, 6, rng_seed=1)
    torch.testing.assert_close(least_squares(x, z, 1e-9), least_squares(x, z))


def test_rounding_is_not_taken_for_a_direction():
    """Rows in a plane, but for single precision: dividing by what is outside would make numbers of any size."""
    x = (normal(50, 2) @ normal(2, 6, rng_seed=1)).float()
    assert least_squares(x, normal(50, 6, rng_seed=2).float()).norm() < 10


def test_rows_of_zeros():
    assert (least_squares(torch.zeros(2, 3), torch.ones(2, 3)) == 0).all()


def test_evenly_spread_rows():
    """Along each axis as many, of the length of the others: this is what they add."""
    x = 3 * torch.nn.functional.normalize(normal(10, 4))
    even = 3 * torch.eye(4, dtype=x.dtype).repeat(5, 1)
    torch.testing.assert_close(evenly_spread(x, len(even)) * torch.eye(4, dtype=x.dtype), even.T @ even)
