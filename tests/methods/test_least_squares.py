import torch

from bilex.methods.least_squares import LeastSquares
from random_tensors import normal


def test_finds_a_linear_map():
    x, w = normal(60, 8), normal(8, 8, rng_seed=1)
    mapping = LeastSquares().fit(x, x @ w, torch.arange(30).repeat(2, 1).T)
    torch.testing.assert_close(mapping.source(x), x @ w)
    assert mapping.target_matrix is None


def test_fewer_pairs_than_dimensions_are_fitted_exactly():
    x, z = normal(60, 8), normal(60, 8, rng_seed=1)
    pairs = torch.tensor([[3, 4], [7, 1], [0, 0]])
    mapping = LeastSquares().fit(x, z, pairs)
    torch.testing.assert_close(mapping.source(x[pairs[:, 0]]), z[pairs[:, 1]])
