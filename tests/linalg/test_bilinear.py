import pytest
import torch

from bilex.linalg.bilinear import bilinear
from random_tensors import normal


def problem(n=20, m=15, d=4, e=3, p=25):
    generator = torch.Generator().manual_seed(5)
    pairs = torch.stack([torch.randint(size, (p,), generator=generator) for size in (n, m)], 1)
    return normal(n, d), normal(m, e, rng_seed=1), torch.cat([pairs, pairs[:6]])


def dense(x, z, pairs):
    """X, Z with each word once, and A."""
    sources, targets = sorted(set(pairs[:, 0].tolist())), sorted(set(pairs[:, 1].tolist()))
    a = torch.zeros(len(sources), len(targets), dtype=x.dtype)
    for i, j in pairs.tolist():
        a[sources.index(i), targets.index(j)] = 1
    return x[sources], z[targets], a


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 500.0])
def test_as_one_large_regression(penalty):
    """vec(X W Zᵀ) = (X ⊗ Z) vec(W): an ordinary regression of all entries of A."""
    x, z, pairs = problem()
    xd, zd, a = dense(x, z, pairs)
    k = torch.kron(xd, zd)
    mu = penalty * xd.square().sum() / 4 * zd.square().sum() / 3 / a.sum()  # the trace is the sum of the eigenvalues
    identity = torch.eye(k.shape[1], dtype=k.dtype)
    expected = torch.linalg.solve(k.T @ k + mu * identity, k.T @ a.flatten()).view(4, 3)
    torch.testing.assert_close(bilinear(x, z, pairs, penalty), expected)


@pytest.mark.parametrize("p", [1, 2])
def test_fewer_pairs_than_dimensions(p):
    x, z, pairs = problem(p=p)
    xd, zd, a = dense(x, z, pairs)
    w = bilinear(x.float(), z.float(), pairs, 1e-6)
    assert w.isfinite().all()
    torch.testing.assert_close(xd @ w @ zd.T, a, rtol=0, atol=1e-3)
