import pytest
import torch
from torch import nn

from bilex.training.adversarial import Adversary


@pytest.fixture
def plain():
    """An adversary without dropout."""
    return Adversary(hidden=7, dropout=0.0, smoothing=0.2, turns=2, batch=6, learning_rate=0.3)


@pytest.fixture
def as_modules():
    """The discriminator in modules, with copies of its parameters, which says probabilities."""

    def network(discriminator):
        layers = discriminator.weights, discriminator.biases
        linear = [nn.Linear(*weights.shape).double() for weights in layers[0]]
        with torch.no_grad():
            for module, weights, bias in zip(linear, *layers, strict=True):
                module.weight.copy_(weights.T)
                module.bias.copy_(bias)
        return nn.Sequential(linear[0], nn.LeakyReLU(0.2), linear[1], nn.LeakyReLU(0.2), linear[2], nn.Sigmoid())

    return network
