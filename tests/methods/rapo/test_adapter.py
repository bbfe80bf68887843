import pytest
import torch

from bilex.methods.rapo.adapter import SLOPES, adapt
from bilex.normalize import unit
from random_tensors import normal

FORMULAS = {
    "linear": lambda a: a,
    "tanh": torch.tanh,
    "sigmoid": lambda a: 2 / (1 + torch.exp(-a)) - 1,
}


@pytest.mark.parametrize("activation", FORMULAS)
def test_activations(activation):
    x, context, w = unit(normal(5, 4)), normal(5, 4, rng_seed=1), normal(4, 4, rng_seed=2)
    expected = x + FORMULAS[activation](context @ w)
    expected = expected / expected.norm(dim=1, keepdim=True)
    torch.testing.assert_close(adapt(x, context, w, activation), expected)
    slope = FORMULAS[activation](torch.tensor(1e-6).double()) / 1e-6
    assert float(slope) == pytest.approx(SLOPES[activation], rel=1e-4)


def test_no_activation_leaves_the_rows():
    x = normal(5, 4)
    assert adapt(x, x, normal(4, 4), "none") is x


@pytest.mark.parametrize("activation", FORMULAS)
def test_gradient(activation):
    x, w = unit(normal(5, 4)), normal(4, 4, rng_seed=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: adapt(x, x, w, activation), w)
