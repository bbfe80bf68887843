"""The dense versions are of the same algorithms: they give the same results."""

import numpy as np
import pytest
import torch

import dense_numpy
from bilex import get_method
from bilex.normalize import Normalizer


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 20))
    x[:, 0] += 1
    turned = x @ np.linalg.qr(rng.standard_normal((20, 20)))[0] + 0.8 * rng.standard_normal(x.shape)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(turned.astype(np.float32))


def problem(name, tables, **settings):
    method = get_method(name, settings)
    x, z = (Normalizer.fit(rows, method.normalize)[1] for rows in tables)
    return dense_numpy.Problem(method, x, z, torch.arange(120)[:, None].expand(-1, 2).contiguous())


@pytest.mark.parametrize("rate", ["1", "200"])
def test_rcsls(tables, rate):
    given = problem("rcsls", tables, learning_rate=rate)
    assert np.allclose(dense_numpy.dense_rcsls(given.method, *given.arrays), given.fit().numpy(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("max_rank", ["400", "150"])
def test_procrustes_refinement(tables, max_rank):
    given = problem("procrustes_refinement", tables, **{"induction.max_rank": max_rank})
    assert np.allclose(dense_numpy.dense_refinement(given.method, *given.arrays), given.fit().numpy(), atol=1e-4)


def test_a_round_of_vecmap(tables):
    given = problem("vecmap_unsupervised", tables)
    assert dense_numpy.same_pairs(*given.arrays) == 1


def test_dense_vecmap_ends_when_nothing_is_left_to_chance(tables, monkeypatch):
    monkeypatch.setattr(dense_numpy, "PATIENCE", 1)
    x, z, pairs = problem("vecmap_unsupervised", tables).arrays
    assert dense_numpy.dense_rounds(x, z, pairs, 3) == 3
    assert dense_numpy.dense_rounds(x, z, pairs, None) >= 2 * dense_numpy.LEVELS
