from dataclasses import replace

import pytest
import torch
from torch import nn

from bilex.training.discriminator import Discriminator
from bilex.training.network import dropout


def generator(rng_seed=0):
    return torch.Generator().manual_seed(rng_seed)


def normal(*shape, rng_seed=0):
    return torch.randn(*shape, generator=generator(rng_seed), dtype=torch.float64)


def labels(n, m, smoothing):
    return torch.cat([torch.full((n,), 1 - smoothing), torch.full((m,), smoothing)]).double()


def test_the_network_is_that_of_the_paper(plain, as_modules):
    discriminator, v = Discriminator(plain, normal(1, 4), generator()), normal(5, 4)
    with torch.no_grad():
        torch.testing.assert_close(discriminator(v).sigmoid(), as_modules(discriminator)(v)[:, 0])
    for weights in discriminator.weights:
        assert weights.abs().max() <= len(weights) ** -0.5


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_several_steps_are_those_of_autograd(plain, as_modules, share):
    """With the same dropout, all parameters move as the optimizer of torch moves them."""
    discriminator = Discriminator(replace(plain, dropout=share), normal(1, 4), generator())
    slow, one, other = as_modules(discriminator), generator(5), generator(5)
    optimizer = torch.optim.SGD(slow.parameters(), lr=0.3)
    for step in range(4):
        x, z = normal(6, 4, rng_seed=step), 1 + normal(5, 4, rng_seed=10 + step)
        loss = nn.functional.binary_cross_entropy(
            slow(dropout(share, other)(torch.cat([x, z])))[:, 0], labels(6, 5, 0.2)
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert discriminator.learn(x, z, one) == pytest.approx(loss.item())
    for layer, weights, bias in zip(slow[::2][:3], discriminator.weights, discriminator.biases, strict=True):
        torch.testing.assert_close(weights, layer.weight.T.detach())
        torch.testing.assert_close(bias, layer.bias.detach())


def test_the_map_descends_the_same_with_the_labels_exchanged(plain, as_modules):
    discriminator, x, z = Discriminator(plain, normal(1, 4), generator()), normal(6, 4), normal(6, 4, rng_seed=1)
    v = x.clone().requires_grad_()
    said = as_modules(discriminator)(torch.cat([v, z]))[:, 0]
    nn.functional.binary_cross_entropy(said, 1 - labels(6, 6, 0.2)).backward()
    torch.testing.assert_close(discriminator.map_gradient(x), v.grad)


def test_tables_stay_as_they_are(plain):
    discriminator, x, z = Discriminator(plain, normal(1, 4), generator()), normal(6, 4), normal(6, 4, rng_seed=1)
    before = x.clone(), z.clone()
    discriminator.learn(x, z, generator())
    assert torch.equal(x, before[0])
    assert torch.equal(z, before[1])
