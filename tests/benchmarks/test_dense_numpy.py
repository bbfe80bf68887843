"""The dense versions are of the same algorithms: they give the same results."""

import numpy as np
import pytest
import torch

import dense
import dense_numpy
from bilex import get_method
from bilex.induction.initial import similar_profiles
from bilex.normalize import Normalizer


@pytest.fixture(scope="module")
def tables():
    return turned(noise=0.8)


def turned(noise):
    """A table, and the same one with other axes and noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 20))
    x[:, 0] += 1
    z = x @ np.linalg.qr(rng.standard_normal((20, 20)))[0] + noise * rng.standard_normal(x.shape)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(z.astype(np.float32))


def problem(name, tables, **settings):
    method = get_method(name, settings)
    x, z = (Normalizer.fit(rows, method.normalize)[1] for rows in tables)
    return dense_numpy.Problem(method, x, z, torch.arange(120)[:, None].expand(-1, 2).contiguous())


@pytest.mark.parametrize("rate", ["1", "200"])
def test_rcsls(tables, rate):
    given = problem("rcsls", tables, learning_rate=rate)
    assert np.allclose(dense.dense_rcsls(given.method, *given.arrays), given.fit().numpy(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("max_rank", ["400", "150"])
def test_procrustes_refinement(tables, max_rank):
    published = {"keep_dictionary": "false", "choose": "false", "induction.max_rank": max_rank}
    given = problem("procrustes_refinement", tables, **published)
    assert np.allclose(dense.dense_refinement(given.method, *given.arrays), given.fit().numpy(), atol=1e-4)


def test_a_round_of_vecmap(tables):
    given = problem("vecmap_unsupervised", tables)
    assert dense_numpy.same_pairs(*given.arrays) == 1


def test_vecmap_has_the_same_profiles(tables):
    x, z, _ = problem("vecmap_unsupervised", tables).arrays
    found = similar_profiles(torch.from_numpy(x), torch.from_numpy(z), torch.Generator()).pairs.numpy()
    assert (found == dense.dense_start(x, z)).all(1).mean() > 0.99


def test_vecmap_ends_with_the_same_pairs():
    given = problem("vecmap_unsupervised", turned(noise=0.2))._replace(pairs=torch.empty(0, 2).long())
    schedule = given.schedule()
    assert [keep for _, keep, _ in schedule] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    x, z, _ = given.arrays
    same = (given.induce().numpy() == dense.dense_self_learning(x, z, schedule)).all(1)
    assert same.mean() > 0.95
    assert len(given.rounds(torch.arange(400)[:, None].expand(-1, 2), 2)) == 800
