import pytest
import torch

from bilex import SettingsError
from bilex.linalg.procrustes import procrustes
from bilex.linalg.whitening import whitener
from bilex.methods.cca import CCA
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from random_tensors import normal


@pytest.fixture
def given():
    x = unit(normal(60, 5) @ normal(5, 5, rng_seed=1))
    z = unit(x @ torch.linalg.qr(normal(5, 5, rng_seed=2)).Q + 0.3 * normal(60, 5, rng_seed=3))
    pairs = torch.stack([torch.arange(40), torch.arange(40)], 1)
    return x, z, torch.cat([pairs, pairs[:7]])


def correlations(x, z, pairs):
    """By their definition: the roots of the eigenvalues of (XᵀX)⁻¹ XᵀZ (ZᵀZ)⁻¹ ZᵀX, largest first."""
    x, z = x[pairs[:, 0]], z[pairs[:, 1]]
    m = torch.linalg.solve(x.T @ x, x.T @ z) @ torch.linalg.solve(z.T @ z, z.T @ x)
    return torch.linalg.eigvals(m).real.sort(descending=True).values.sqrt()


@pytest.mark.parametrize(("share", "kept"), [(1.0, 5), (0.8, 4), (0.5, 2), (0.01, 1)])
def test_directions_of_the_largest_correlations(given, share, kept):
    """In each direction both sides have length 1 over the pairs, and their product is the correlation."""
    x, z, pairs = given
    mapping = CCA(share=share, penalty=0).fit(x, z, pairs)
    source, target = mapping.source(x[pairs[:, 0]]), mapping.target(z[pairs[:, 1]])
    torch.testing.assert_close(source.T @ source, torch.eye(kept, dtype=x.dtype))
    torch.testing.assert_close(target.T @ target, torch.eye(kept, dtype=x.dtype))
    torch.testing.assert_close(source.T @ target, correlations(x, z, pairs)[:kept].diag())


def test_de_whitened_it_is_vecmap_without_weights(given):
    x, z, pairs = given
    mapping, vecmap = CCA(share=1.0, penalty=0).fit(x, z, pairs), VecMap(reweight="none").fit(x, z, pairs)
    for rows, own, other in (
        (x[pairs[:, 0]], mapping.source_matrix, vecmap.source_matrix),
        (z[pairs[:, 1]], mapping.target_matrix, vecmap.target_matrix),
    ):
        _, inverse = whitener(rows)
        u = inverse @ own  # of A U
        torch.testing.assert_close(own @ (u.T @ inverse @ u), other)


def test_with_an_endless_penalty_it_is_procrustes(given):
    x, z, pairs = given
    mapping = CCA(share=1.0, penalty=1e9).fit(x, z, pairs)
    expected = unit(x) @ procrustes(x[pairs[:, 0]], z[pairs[:, 1]]) @ unit(z).T
    torch.testing.assert_close(unit(mapping.source(x)) @ unit(mapping.target(z)).T, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("penalty", [0.0, 1000.0])
def test_fewer_pairs_than_dimensions_are_compared_where_they_are(given, penalty):
    x, z, pairs = given
    mapping = CCA(penalty=penalty).fit(x.float(), z.float(), pairs[:2])
    assert mapping.source_matrix.shape == mapping.target_matrix.shape == (5, 2)
    assert mapping.source(x).isfinite().all()


def test_few_pairs_do_not_break_it():
    """A rotation with noise and fewer pairs than dimensions: without a penalty, all of them correlate by chance."""
    x = unit(normal(500, 30))
    z = unit(x @ torch.linalg.qr(normal(30, 30, rng_seed=1)).Q + 0.1 * normal(500, 30, rng_seed=2))
    pairs = torch.arange(28).repeat(2, 1).T

    def right(method):
        mapping = method.fit(x, z, pairs)
        found = (unit(mapping.source(x)) @ unit(mapping.target(z)).T).argmax(1)
        return float((found == torch.arange(500)).double().mean())

    assert right(CCA()) > right(CCA(penalty=0)) + 0.2


BAD = [
    ({"share": 0.0}, "cca: share=0.0; needed a number above 0, at most 1"),
    ({"share": 1.5}, "cca: share=1.5; needed a number above 0, at most 1"),
    ({"penalty": -1.0}, "cca: penalty=-1.0; needed a number from 0"),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        CCA(**settings)
