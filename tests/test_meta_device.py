"""Nothing is made on the CPU by accident, nor in another precision: as far as no value decides, it runs on `meta`."""

import pytest
import torch

from bilex.linalg.householder import compose, polar
from bilex.linalg.least_squares import least_squares
from bilex.linalg.procrustes import procrustes
from bilex.mapping import LinearMapping
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.objective import pair_loss, parameter_norm, ranking_loss
from bilex.methods.rapo.towers import Tower
from bilex.normalize import Normalizer
from bilex.search.blocks import logsumexp, score_blocks

D = 12


@pytest.fixture(params=[torch.float32, torch.float64], ids=str)
def made(request):
    def make(*shape):
        return torch.empty(*shape, dtype=request.param, device="meta")

    make.dtype = request.param
    return make


def is_like(tensor, make, *shape):
    return (tensor.device.type, tensor.dtype, tuple(tensor.shape)) == ("meta", make.dtype, shape)


def side(made, **settings):
    defaults = {"adapter": made(D, D), "projection": made(D, D), "kind": "householder", "activation": "linear"}
    return Tower(rows=made(50, D), context=made(50, D), **(defaults | settings))


@pytest.mark.parametrize("activation", ["linear", "tanh", "sigmoid", "none"])
@pytest.mark.parametrize("kind", ["householder", "linear"])
def test_towers_in_training(made, activation, kind):
    one = side(made, activation=activation, kind=kind)
    assert is_like(one.matrix(), made, D, D)
    assert is_like(one.mapped(), made, 50, D)
    some = torch.empty(7, dtype=torch.long, device="meta")
    assert is_like(one.map_few(some), made, 7, D)
    assert is_like(one.cosines(made(3, D), some, one.context), made, 3, 7)


def test_gradients_of_all_losses(made):
    parameters = [made(D, D).requires_grad_() for _ in range(2)]
    one = side(made, adapter=parameters[0], projection=parameters[1])
    x = one.map_few(torch.arange(8, device="meta"))
    scores = x @ made(20, D).T
    losses = [
        ranking_loss(scores[:, 0], scores[:, 1:], made(8, 19), made(8)),
        pair_loss(x, made(8, D), "euclidean"),
        pair_loss(x, made(8, D), "squared"),
        parameter_norm(parameters, joint=False),
        parameter_norm(parameters, joint=True),
    ]
    assert all(is_like(loss, made) for loss in losses)
    torch.stack(losses).sum().backward()
    assert all(is_like(parameter.grad, made, D, D) for parameter in parameters)


def test_mappings(made):
    linear = LinearMapping(source_matrix=made(D, 5), target_matrix=made(D, 5))
    assert is_like(linear.source(made(50, D)), made, 50, 5)
    assert is_like(linear.target(made(50, D)), made, 50, 5)
    towers = TowerMapping(
        source_adapter=made(D, D),
        target_adapter=made(D, D),
        source_projection=made(D, D),
        target_projection=made(D, D),
        activation="none",
        tau_source=0.9,
        tau_target=0.9,
        context_cap=None,
    )
    assert is_like(towers.source(made(50, D)), made, 50, D)


def test_decompositions(made):
    assert is_like(compose(made(9, D)), made, D, D)
    assert all(is_like(part, made, D, D) for part in polar(made(D, D)))
    assert is_like(procrustes(made(40, D), made(40, D)), made, D, D)
    assert is_like(least_squares(made(40, D), made(40, D)), made, D, D)


def test_normalization(made):
    assert is_like(Normalizer.fit(made(40, D), ("unit", "center", "unit"))[1], made, 40, D)


def test_keys_and_bias_follow_the_queries_to_their_device(made):
    """A table larger than the device's memory stays where it is and comes block by block."""
    keys, bias = torch.ones(60, D, dtype=made.dtype), torch.ones(60, dtype=made.dtype)
    blocks = [
        (start, scores) for _, parts in score_blocks(made(50, D), keys, bias=bias, width=20) for start, scores in parts
    ]
    assert [start for start, _ in blocks] == [0, 20, 40]
    assert all(is_like(scores, made, 50, 20) for _, scores in blocks)
    assert is_like(logsumexp(made(50, D), keys, scale=2.0), made, 50)
