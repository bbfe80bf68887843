import math

import pytest
import torch

from bilex.training.network import Network, dropout
from random_tensors import generator

LIKE = torch.zeros(1, dtype=torch.float64)


def test_layers_number_by_number():
    network = Network.random([3, 4, 2], LIKE, generator())
    row = [0.5, -1.0, 2.0]
    (w, v), (b, c) = ([t.tolist() for t in group] for group in (network.weights, network.biases))
    middle = [sum(row[i] * w[i][j] for i in range(3)) + b[j] for j in range(4)]
    middle = [value if value > 0 else 0.25 * value for value in middle]
    expected = [sum(middle[i] * v[i][j] for i in range(4)) + c[j] for j in range(2)]
    assert network(torch.tensor([row], dtype=torch.float64))[0].tolist() == pytest.approx(expected)
    assert all(float(t.detach().abs().max()) <= 1 / math.sqrt(3) for t in network.parameters()[:1])


def test_the_identity_is_tanh():
    rows = torch.randn(5, 3, generator=generator(), dtype=torch.float64)
    assert torch.allclose(Network.identity([3, 4, 3], LIKE)(rows), rows.tanh())
    assert torch.allclose(Network.identity([3, 2, 3], LIKE)(rows)[:, 2], torch.zeros(5, dtype=torch.float64))


@pytest.mark.parametrize("network", [Network.random([3, 4, 2], LIKE, generator()), Network.identity([3, 4, 3], LIKE)])
def test_a_network_is_its_arrays(network):
    rows = torch.randn(5, 3, generator=generator(), dtype=torch.float64)
    again = network.frozen()
    assert torch.equal(again(rows), network(rows))
    assert not any(parameter.requires_grad for parameter in again.parameters())
    assert all(parameter.requires_grad for parameter in network.parameters())
    assert len(network.arrays()) == len(network.parameters())


def test_dropout():
    rows = torch.ones(200, 100)
    dropped = dropout(0.25, generator())(rows)
    assert dropped.unique().tolist() == pytest.approx([0, 4 / 3])
    assert float((dropped == 0).double().mean()) == pytest.approx(0.25, abs=0.01)
    assert torch.equal(dropped, dropout(0.25, generator())(rows))
    assert torch.equal(dropout(0.0, generator())(rows), rows)
    network = Network.random([100, 50, 2], torch.zeros(1), generator())
    assert not torch.equal(network(rows, dropout(0.25, generator())), network(rows))
