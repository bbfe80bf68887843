import pytest
import torch

from bilex import SettingsError
from bilex.methods.least_squares import LeastSquares
from bilex.methods.ridge import Ridge
from bilex.normalize import unit
from random_tensors import normal


@pytest.fixture
def given():
    pairs = torch.arange(30).repeat(2, 1).T
    return unit(normal(60, 5)), unit(normal(60, 5, rng_seed=1)), torch.cat([pairs, pairs[:7]])


def test_the_penalty_counts_as_pairs_with_nothing(given):
    """10 words along each of 5 axes that are mapped to 0 are 50 pairs spread evenly."""
    x, z, pairs = given
    even = torch.eye(5, dtype=x.dtype).repeat(10, 1)
    longer = torch.cat([x, even]), torch.cat([z, torch.zeros_like(even)])
    added = torch.arange(60, 110).repeat(2, 1).T
    expected = LeastSquares().fit(*longer, torch.cat([pairs, added]))
    torch.testing.assert_close(Ridge(penalty=50).fit(x, z, pairs).source_matrix, expected.source_matrix)


def test_a_small_penalty_is_least_squares(given):
    found = Ridge(penalty=1e-9).fit(*given).source_matrix
    torch.testing.assert_close(found, LeastSquares().fit(*given).source_matrix)


def test_the_length_of_vectors_does_not_matter(given):
    x, z, pairs = given
    found = Ridge().fit(7 * x, 7 * z, pairs).source_matrix
    torch.testing.assert_close(found, Ridge().fit(x, z, pairs).source_matrix)


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_penalties_are_refused(penalty):
    with pytest.raises(SettingsError, match=f"ridge: penalty={penalty}; needed a number above 0"):
        Ridge(penalty=penalty)
