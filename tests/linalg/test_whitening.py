import pytest
import torch

from bilex.linalg.whitening import whitener
from random_tensors import normal


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_whitens_and_its_inverse_undoes_it(dtype):
    x = (normal(50, 6) @ normal(6, 6, rng_seed=1)).to(dtype)
    a, inverse = whitener(x)
    identity, near = torch.eye(6, dtype=dtype), {"rtol": 0, "atol": 1e-4 if dtype == torch.float32 else 1e-8}
    assert a.dtype == inverse.dtype == dtype
    torch.testing.assert_close((x @ a).T @ (x @ a), identity, **near)
    torch.testing.assert_close(a @ inverse, identity, **near)
    torch.testing.assert_close(a, a.T, **near)
    torch.testing.assert_close(inverse @ inverse, x.T @ x, rtol=1e-4, atol=1e-4)


def test_fewer_rows_than_dimensions():
    x = normal(3, 6)
    a, inverse = whitener(x)
    assert a.isfinite().all()
    torch.testing.assert_close((x @ a) @ (x @ a).T, torch.eye(3).double(), rtol=0, atol=1e-6)
    torch.testing.assert_close(x @ a @ inverse, x)


def test_rows_of_zeros_stay_where_they_are():
    a, inverse = whitener(torch.zeros(2, 4))
    torch.testing.assert_close(a, torch.eye(4))
    torch.testing.assert_close(inverse, torch.eye(4))


@pytest.mark.parametrize("p", [3, 50])
def test_a_penalty_is_added(p):
    x = normal(p, 6)
    a, inverse = whitener(x, 0.5)
    torch.testing.assert_close(inverse @ inverse, x.T @ x + 0.5 * torch.eye(6, dtype=x.dtype))
    torch.testing.assert_close(a @ inverse, torch.eye(6, dtype=x.dtype))
