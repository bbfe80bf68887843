import numpy as np
import pytest
import torch

from bilex import align, get_method
from bilex.linalg.procrustes import procrustes
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from random_tensors import normal


@pytest.fixture
def given():
    x = unit(normal(60, 5) @ normal(5, 5, rng_seed=1))
    z = unit(x @ torch.linalg.qr(normal(5, 5, rng_seed=2)).Q + 0.1 * normal(60, 5, rng_seed=3))
    pairs = torch.stack([torch.arange(40), torch.arange(40)], 1)
    return x, z, torch.cat([pairs, pairs[:7]])


def inverse_root(m):
    """M^(−1/2) by Denman and Beavers' iteration, without eigenvectors."""
    y, z = m, torch.eye(len(m), dtype=m.dtype)
    for _ in range(60):
        y, z = (y + torch.linalg.inv(z)) / 2, (z + torch.linalg.inv(y)) / 2
    return z


def step_by_step(x, z, pairs, left, right):
    """The published steps one after the other, on whole tables."""
    i, j = pairs.T
    a, b = inverse_root(x[i].T @ x[i]), inverse_root(z[j].T @ z[j])
    x, z = x @ a, z @ b
    u, s, vt = torch.linalg.svd(x[i].T @ z[j])
    x, z = x @ u, z @ vt.T
    x, z = x * s**left, z * s**right
    return x @ u.T @ torch.linalg.inv(a) @ u, z @ vt @ torch.linalg.inv(b) @ vt.T


@pytest.mark.parametrize(("reweight", "left", "right"), [("both", 0.5, 0.5), ("target", 0, 1), ("none", 0, 0)])
def test_as_step_by_step(given, reweight, left, right):
    x, z, pairs = given
    mapping = VecMap(reweight=reweight).fit(x, z, pairs)
    source, target = step_by_step(x, z, pairs, left, right)
    torch.testing.assert_close(unit(mapping.source(x)) @ unit(mapping.target(z)).T, unit(source) @ unit(target).T)


def test_white_data_without_weights_is_procrustes():
    x = torch.linalg.qr(normal(50, 5)).Q
    z = torch.linalg.qr(x @ normal(5, 5, rng_seed=1) + 0.1 * normal(50, 5, rng_seed=2)).Q
    mapping = VecMap(reweight="none").fit(x, z, torch.arange(50)[:, None].expand(-1, 2))
    expected = x @ procrustes(x, z) @ z.T
    torch.testing.assert_close(mapping.source(x) @ mapping.target(z).T, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("p", [1, 3])
def test_fewer_pairs_than_dimensions(given, p):
    x, z, pairs = given
    mapping = VecMap().fit(x.float(), z.float(), pairs[:p])
    assert mapping.source(x).isfinite().all()
    assert mapping.target(z).isfinite().all()


def numpy_aaai(x, z, pairs):
    """From raw rows: unit, center; whiten; rotate; S on the target side; de-whiten. The cosines of all pairs."""
    x, z = unit_rows(x), unit_rows(z)
    x, z = x - x.mean(0), z - z.mean(0)

    def whitening(rows):
        _, s, vt = np.linalg.svd(rows, full_matrices=False)
        return vt.T @ np.diag(1 / s) @ vt

    a, b = whitening(x[pairs[:, 0]]), whitening(z[pairs[:, 1]])
    x, z = x @ a, z @ b
    u, s, vt = np.linalg.svd(x[pairs[:, 0]].T @ z[pairs[:, 1]])
    x, z = x @ u, z @ vt.T @ np.diag(s)
    x, z = x @ u.T @ np.linalg.inv(a) @ u, z @ vt @ np.linalg.inv(b) @ vt.T
    return unit_rows(x) @ unit_rows(z).T


def unit_rows(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_variant_of_the_aaai_paper(world):
    method = get_method("vecmap", {"reweight": "target", "normalize": "unit,center"})
    made = align(world.source, world.target, world.train, method=method)
    pairs = world.train.index(world.source, world.target).pairs
    expected = numpy_aaai(world.source.rows.astype(np.float64), world.target.rows.astype(np.float64), pairs)
    np.testing.assert_allclose(made.source_rows @ made.target_rows.T, expected, atol=1e-5)
