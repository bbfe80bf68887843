import math

import pytest
import torch

from bilex.methods.rapo.objective import pair_loss, parameter_norm, ranking_loss
from random_tensors import normal


def test_ranking_loss():
    positive, negative = normal(4), normal(4, 3, rng_seed=1)
    valid = torch.tensor([[1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 1, 0]]).double()
    weight, total = normal(4, rng_seed=2).abs(), 0.0
    for i in range(4):
        losses = [-math.log(1 / (1 + math.exp(-(positive[i] - negative[i, j])))) for j in range(3) if valid[i, j]]
        total += float(weight[i]) * sum(losses) / max(1, len(losses))
    assert float(ranking_loss(positive, negative, valid, weight)) == pytest.approx(total / 4)


def test_ranking_loss_is_stable_and_bears_no_negatives():
    far = ranking_loss(torch.tensor([-1e4]), torch.tensor([[1e4]]), torch.ones(1, 1), torch.ones(1))
    assert float(far) == pytest.approx(2e4)
    assert float(ranking_loss(torch.zeros(2), torch.zeros(2, 0), torch.zeros(2, 0), torch.ones(2))) == 0
    assert float(ranking_loss(torch.zeros(2), torch.zeros(2, 3), torch.zeros(2, 3), torch.ones(2))) == 0


def test_pair_loss():
    x, z = normal(5, 3), normal(5, 3, rng_seed=1)
    norms = [math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))) for p, q in zip(x, z, strict=True)]
    assert float(pair_loss(x, z, "euclidean")) == pytest.approx(sum(norms) / 5)
    assert float(pair_loss(x, z, "squared")) == pytest.approx(sum(n * n for n in norms) / 15)


def test_parameter_norm():
    a, b = normal(3, 3), normal(2, 3, rng_seed=1)
    assert float(parameter_norm([a, b], joint=False)) == pytest.approx(float(a.norm() + b.norm()))
    assert float(parameter_norm([a, b], joint=True)) == pytest.approx(float(torch.cat([a, b]).norm()))


def test_gradients():
    valid = torch.tensor([[1, 0], [1, 1]]).double()
    w = torch.tensor([0.5, 2.0]).double()
    s, n, x, z = (normal(*shape, rng_seed=i).requires_grad_() for i, shape in enumerate([(2,), (2, 2), (2, 3), (2, 3)]))
    assert torch.autograd.gradcheck(lambda s, n: ranking_loss(s, n, valid, w), (s, n))
    for distance in ("euclidean", "squared"):
        assert torch.autograd.gradcheck(lambda x, z, d=distance: pair_loss(x, z, d), (x, z))
    assert torch.autograd.gradcheck(lambda x, z: parameter_norm([x, z], joint=False), (x, z))
    assert torch.autograd.gradcheck(lambda x, z: parameter_norm([x, z], joint=True), (x, z))


def test_equal_rows_have_a_gradient():
    x = normal(2, 3).requires_grad_()
    (pair_loss(x, x.detach(), "euclidean") + parameter_norm([x - x.detach()], joint=False)).backward()
    assert torch.equal(x.grad, torch.zeros(2, 3).double())
