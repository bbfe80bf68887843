import pytest
import torch

from bilex.linalg.procrustes import procrustes
from random_tensors import normal


def orthogonal(d, rng_seed=0, *, determinant=None):
    q = torch.linalg.qr(normal(d, d, rng_seed=rng_seed)).Q
    if determinant is not None and torch.linalg.det(q).sign() != determinant:
        q[:, 0] *= -1
    return q


def misfit(x, w, z):
    return float((x @ w - z).norm())


@pytest.mark.parametrize("p", [1, 3, 200])
@pytest.mark.parametrize("rng_seed", range(3))
def test_orthogonal_even_with_fewer_pairs_than_dimensions(p, rng_seed):
    w = procrustes(normal(p, 8, rng_seed=rng_seed), normal(p, 8, rng_seed=rng_seed + 10))
    torch.testing.assert_close(w.T @ w, torch.eye(8, dtype=w.dtype), rtol=0, atol=1e-12)


@pytest.mark.parametrize("determinant", [1, -1])
@pytest.mark.parametrize("d", [1, 2, 50])
def test_recovers_rotations_and_reflections(d, determinant):
    x, q = normal(100, d), orthogonal(d, determinant=determinant)
    torch.testing.assert_close(procrustes(x, x @ q), q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rng_seed", range(3))
def test_no_orthogonal_matrix_fits_better(rng_seed):
    x, z = normal(40, 6, rng_seed=rng_seed), normal(40, 6, rng_seed=rng_seed + 10)
    w = procrustes(x, z)
    others = [orthogonal(6, rng_seed=100 + i) for i in range(50)]
    near = [w @ torch.matrix_exp(0.05 * (a - a.T)) for a in (normal(6, 6, rng_seed=200 + i) for i in range(50))]
    assert misfit(x, w, z) < min(misfit(x, other, z) for other in others + near)


def test_float32_is_orthogonal_enough():
    x, z = normal(500, 300).float(), normal(500, 300, rng_seed=1).float()
    w = procrustes(x, z)
    assert w.dtype == torch.float32
    torch.testing.assert_close(w.T @ w, torch.eye(300), rtol=0, atol=1e-5)
