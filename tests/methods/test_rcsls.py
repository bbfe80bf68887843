import math
from itertools import pairwise

import pytest
import torch

from bilex.errors import SettingsError
from bilex.linalg.procrustes import procrustes
from bilex.methods import rcsls
from bilex.methods.rcsls import RCSLS
from bilex.normalize import unit
from bilex.search.topk import topk
from bilex.training.trace import Trace
from random_tensors import normal


@pytest.fixture
def given():
    x = unit(normal(60, 5))
    z = unit(x @ torch.linalg.qr(normal(5, 5, rng_seed=2)).Q + 0.2 * normal(60, 5, rng_seed=3))
    return x, z, torch.arange(30)[:, None].expand(-1, 2)


def dense_loss(w, x, z, pairs, k):
    """The criterion pair by pair, with whole score lists."""
    losses = []
    for i, j in pairs.tolist():
        near_z = (z @ (x[i] @ w)).topk(min(k, len(z))).values.mean()
        near_x = ((x @ w) @ z[j]).topk(min(k, len(x))).values.mean()
        losses.append(-(2 * (x[i] @ w) @ z[j] - near_z - near_x))
    return torch.stack(losses).mean()


@pytest.mark.parametrize("k", [1, 10, 1000])
def test_loss_and_gradient(given, k):
    x, z, pairs = given
    w = normal(5, 5, rng_seed=4).requires_grad_()
    expected = dense_loss(w, x, z, pairs, k)
    expected.backward()
    loss, gradient = RCSLS(k=k).loss(w.detach(), x, z, x[pairs[:, 0]], z[pairs[:, 1]])
    assert loss == pytest.approx(expected.item())
    torch.testing.assert_close(gradient, w.grad)


def test_neighbours_of_words_in_several_pairs_are_searched_once(given, monkeypatch):
    x, z, _ = given
    pairs = torch.tensor([[0, 1], [0, 2], [5, 2], [3, 3], [0, 1]])
    rows = x[pairs[:, 0]], z[pairs[:, 1]]
    w, searched = normal(5, 5, rng_seed=4), []
    monkeypatch.setattr(rcsls, "topk", lambda queries, *rest: searched.append(len(queries)) or topk(queries, *rest))
    expected, found = RCSLS().loss(w, x, z, *rows), RCSLS().loss(w, x, z, *rows, pairs)
    assert searched == [5, 5, 3, 3]
    assert found[0] == pytest.approx(expected[0])
    torch.testing.assert_close(found[1], expected[1])


def test_the_loss_falls(given):
    x, z, pairs = given
    trace = Trace()
    mapping = RCSLS(learning_rate=1.0).fit(x, z, pairs, trace=trace)
    losses = [record["loss"] for record in trace.records]
    assert len(losses) == 10
    assert losses == sorted(losses, reverse=True)
    assert dense_loss(mapping.source_matrix, x, z, pairs, 10) < losses[-1] < losses[0]


def test_no_iterations_is_procrustes(given):
    x, z, pairs = given
    mapping = RCSLS(iterations=0).fit(x, z, pairs, trace=Trace())
    assert torch.equal(mapping.source_matrix, procrustes(x[pairs[:, 0]], z[pairs[:, 1]]))


@pytest.mark.parametrize("wrong", [{"k": 0}, {"iterations": -1}, {"learning_rate": 0.0}, {"learning_rate": math.inf}])
def test_bad_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match="needed"):
        RCSLS(**wrong)


def test_spectral_keeps_singular_values_to_1(given):
    x, z, pairs = given
    free, kept = (RCSLS(spectral=spectral).fit(x, z, pairs, trace=Trace()).source_matrix for spectral in (False, True))
    assert torch.linalg.svdvals(free).max() > 1.5
    assert torch.linalg.svdvals(kept).max() <= 1 + 1e-9


@pytest.mark.parametrize("spectral", [False, True])
def test_the_step_is_halved_when_the_loss_rises(given, spectral):
    x, z, pairs = given
    trace = Trace()
    RCSLS(learning_rate=1000.0, spectral=spectral, iterations=40).fit(x, z, pairs, trace=trace)
    records = trace.records
    lowest = records[0]["loss"]
    for before, now in pairwise(records):
        halved = now["loss"] > (lowest if spectral else before["loss"])  # what has risen is taken back with spectral
        assert now["learning_rate"] == before["learning_rate"] / (2 if halved else 1)
        lowest = min(lowest, now["loss"])
    if spectral:
        assert records[-1]["learning_rate"] < 1000


def clipped(w):
    u, s, vt = torch.linalg.svd(w)
    return (u * s.clamp_max(1)) @ vt


def by_hand(method, x, z, pairs, rates):
    """The iterates of given steps, each from the best matrix so far if the method takes steps back."""
    x_d, z_d = x[pairs[:, 0]], z[pairs[:, 1]]
    w = start = procrustes(x_d, z_d)
    losses = []
    for rate in rates:
        losses.append(float(dense_loss(w, x, z, pairs, method.k)))
        start = w if not method.spectral or losses[-1] == min(losses) else start
        w = start - rate * method.loss(start, x, z, x_d, z_d)[1]
        w = clipped(w) if method.spectral else w
    return w, losses


@pytest.mark.parametrize("spectral", [False, True])
def test_a_step_that_raised_the_loss_is_taken_back_with_spectral_only(given, spectral):
    x, z, pairs = given
    method, trace = RCSLS(learning_rate=1000.0, spectral=spectral, iterations=12), Trace()
    mapping = method.fit(x, z, pairs, trace=trace)
    rates = [record["learning_rate"] for record in trace.records]
    expected, losses = by_hand(method, x, z, pairs, rates)
    torch.testing.assert_close(mapping.source_matrix, expected)
    assert [record["loss"] for record in trace.records] == pytest.approx(losses)
    assert (rates[-1] < rates[0]) == spectral


@pytest.mark.parametrize(("spectral", "kept"), [(False, 2), (True, 1)])
def test_which_matrix_is_gone_back_to(given, monkeypatch, spectral, kept):
    """By losses that are made up; the last step would be too small, so that it ends there."""
    x, z, pairs = given
    losses, matrices = iter([1.0, 0.5, 0.7]), []

    def told(_, w, *__):
        matrices.append(w)
        return next(losses), torch.ones_like(w)

    monkeypatch.setattr(RCSLS, "loss", told)
    mapping = RCSLS(learning_rate=1.9e-4, spectral=spectral).fit(x, z, pairs, trace=Trace())
    assert len(matrices) == 3
    assert torch.equal(mapping.source_matrix, matrices[kept])
