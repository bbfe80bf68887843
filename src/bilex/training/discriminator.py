"""The discriminator of adversarial training, with its gradients written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, leaky_relu

from bilex.training.network import Network, dropout

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.adversarial import Adversary

SLOPE = 0.2
"""Slope of the leaky ReLU below 0."""


class Discriminator:
    """The logit s(v) of the probability that v is a mapped word.

    s(v) = λ(λ(v A + a) B + b) c + e, λ the leaky ReLU.  v: (n, d), A: (d, h), B: (h, h), c: (h, 1); s: (n,).

    Its steps are many and small: autograd takes half as long again for the same numbers, so it is not used.
    """

    def __init__(self, adversary: Adversary, like: Tensor, generator: Generator) -> None:
        self.adversary = adversary
        sizes = (like.shape[1], adversary.hidden, adversary.hidden, 1)
        network = Network.random(sizes, like, generator, slope=SLOPE).frozen()
        self.weights, self.biases = network.weights, network.biases

    def __call__(self, v: Tensor) -> Tensor:
        """s(v)."""
        return self._layers(v).s

    def learn(self, mapped: Tensor, others: Tensor, generator: Generator) -> float:
        """One gradient step on the cross entropy H with smoothed labels. Returns H.  mapped, others: (b, d)."""
        truth = 1 - self.adversary.smoothing
        v = dropout(self.adversary.dropout, generator)(torch.cat([mapped, others]))
        labels = torch.cat([v.new_full((len(mapped),), truth), v.new_full((len(others),), 1 - truth)])
        layers = self._layers(v)
        deltas = self._deltas(layers, (layers.s.sigmoid() - labels) / len(labels))
        for inputs, delta, weight, bias in zip((v, layers.g, layers.h), deltas, self.weights, self.biases, strict=True):
            weight.addmm_(inputs.T, delta, alpha=-self.adversary.learning_rate)
            bias.sub_(delta.sum(0), alpha=self.adversary.learning_rate)
        return float(binary_cross_entropy_with_logits(layers.s, labels))

    def map_gradient(self, mapped: Tensor) -> Tensor:
        """∂L/∂v for mapped words v (b, d), L the loss of the map: H with labels exchanged, without dropout.

        H is a mean over words of both languages. The half of the other language does not depend on the map.
        """
        layers = self._layers(mapped)
        slope = (layers.s.sigmoid() - self.adversary.smoothing) / (2 * len(mapped))
        return self._deltas(layers, slope)[0] @ self.weights[0].T

    def _layers(self, v: Tensor) -> _Layers:
        g = leaky_relu(torch.addmm(self.biases[0], v, self.weights[0]), SLOPE)
        h = leaky_relu(torch.addmm(self.biases[1], g, self.weights[1]), SLOPE)
        return _Layers(g, h, torch.addmm(self.biases[2], h, self.weights[2])[:, 0])

    def _deltas(self, layers: _Layers, slope: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients at the three layers before λ, given ∂/∂s: (n, h), (n, h), (n, 1)."""
        last = slope[:, None]
        second = last @ self.weights[2].T * _derivative(layers.h)
        return second @ self.weights[1].T * _derivative(layers.g), second, last


class _Layers(NamedTuple):
    """g = λ(v A + a), h = λ(g B + b) and s = h c + e."""

    g: Tensor
    h: Tensor
    s: Tensor


def _derivative(activated: Tensor) -> Tensor:
    """λ′, from the values of λ."""
    return torch.where(activated > 0, 1.0, SLOPE).to(activated)
