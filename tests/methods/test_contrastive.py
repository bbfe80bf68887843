import pytest
import torch

from bilex.errors import SettingsError
from bilex.mapping import LinearMapping
from bilex.methods.contrastive import Contrastive, log_sum
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from bilex.training.trace import Trace
from random_tensors import generator


def normal(*shape):
    return torch.randn(*shape, generator=generator(), dtype=torch.float64)


@pytest.fixture
def several(uneven):
    """With words that have several translations."""
    x, z, pairs = uneven
    return x, z, torch.cat([pairs, torch.tensor([[0, 3], [5, 3], [5, 70]])])


def slow_loss(a, b, x, z, pairs, *, pool, count, temperature):
    """InfoNCE pair by pair, over the whole matrix of cosines; lengths are constants."""
    cosines = (x @ a / (x @ a).norm(dim=1, keepdim=True).detach()) @ (
        z @ b / (z @ b).norm(dim=1, keepdim=True).detach()
    ).T
    known = {(i, j) for i, j in pairs.tolist()}
    losses = []
    for i, j in pairs.tolist():
        targets = [k for k in cosines[i, :pool].argsort(descending=True).tolist() if (i, k) not in known][:count]
        sources = [k for k in cosines[:pool, j].argsort(descending=True).tolist() if (k, j) not in known][:count]
        scores = torch.cat([cosines[i, j][None], cosines[i, targets], cosines[sources, j]]) / temperature
        losses.append(-scores.log_softmax(0)[0])
    return torch.stack(losses).mean()


def slow_descent(a, b, x, z, pairs, *, steps, rate, decay, clip, **settings):
    losses = []
    for step in range(steps):
        a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
        loss = slow_loss(a, b, x, z, pairs, **settings)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([a, b], clip)
        losses.append(loss.item())
        a, b = a - rate * decay**step * a.grad, b - rate * decay**step * b.grad
    return a.detach(), b.detach(), losses


@pytest.mark.parametrize("clip", [0.01, 100.0])
@pytest.mark.parametrize(("pool", "temperature"), [(1000, 1.0), (30, 0.1)])
def test_steps_as_written_out(several, clip, pool, temperature):
    x, z, pairs = several
    start = LinearMapping(source_matrix=normal(5, 5), target_matrix=normal(5, 5).T)
    method = Contrastive(
        steps=3, refresh=1, learning_rate=0.5, decay=0.8, clip=clip, pool=pool, negatives=7, temperature=temperature
    )
    mapping, losses = method.descend(start, x, z, pairs, Trace())
    a, b, expected = slow_descent(
        *(start.source_matrix, start.target_matrix, x, z, pairs),
        steps=3,
        rate=0.5,
        decay=0.8,
        clip=clip,
        pool=pool,
        count=7,
        temperature=temperature,
    )
    torch.testing.assert_close(mapping.source_matrix, a, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(mapping.target_matrix, b, rtol=1e-5, atol=1e-7)
    assert losses == pytest.approx(expected)


def test_negatives_may_stay_for_some_steps(several):
    start = VecMap().fit(*several)
    first, second, third = (
        Contrastive(steps=4, refresh=refresh, negatives=5).descend(start, *several, Trace())[1] for refresh in (1, 4, 9)
    )
    assert second == third
    assert first[0] == second[0]
    assert first[1:] != second[1:]


def test_log_sum_and_its_gradient():
    queries, keys = normal(70, 4).requires_grad_(), normal(30, 4).requires_grad_()
    chosen = torch.randint(30, (70, 6), generator=generator())
    chosen[3, 4:] = -1
    chosen[9] = -1
    weights = normal(70)
    found = log_sum(queries, keys, chosen, 0.5)
    scores = (queries @ keys.T / 0.5).gather(1, chosen.clamp_min(0)).masked_fill(chosen < 0, -1e4)
    expected = scores.logsumexp(1)
    torch.testing.assert_close(found, expected)
    some = torch.arange(70) != 9  # a query without keys has nothing to learn
    for one, other in zip(
        *(torch.autograd.grad((w[some] * weights[some]).sum(), (queries, keys)) for w in (found, expected)), strict=True
    ):
        torch.testing.assert_close(one, other)


def test_induced_pairs_are_the_best_of_each_direction(uneven):
    x, z, pairs = uneven
    x, z = unit(x), unit(z)
    induced = Contrastive(max_pairs=25, k=3).induce(x, z, pairs[:10], generator())
    s = x @ z.T
    csls = 2 * s - s.topk(3, dim=1).values.mean(1)[:, None] - s.topk(3, dim=0).values.mean(0)
    forward = sorted(((csls[i].max().item(), i, csls[i].argmax().item()) for i in range(60)), reverse=True)[:25]
    backward = sorted(((csls[:, j].max().item(), csls[:, j].argmax().item(), j) for j in range(75)), reverse=True)[:25]
    expected = {(i, j) for _, i, j in forward + backward if i >= 10 and j >= 10}
    assert sorted(map(tuple, induced.tolist())) == sorted(expected)


def test_rounds(given):
    x, z, train, _ = given
    method, trace = Contrastive(rounds=2, steps=2, max_pairs=100), Trace()
    mapping = method.fit(x, z, train, generator=generator(), trace=trace)
    first, _ = method.descend(VecMap().fit(x, z, train), x, z, train, Trace())
    induced = method.induce(unit(first.source(x)), unit(first.target(z)), train, generator())
    second, _ = method.descend(VecMap().fit(x, z, torch.cat([train, induced])), x, z, train, Trace())
    assert torch.equal(mapping.source_matrix, second.source_matrix)
    assert [record["pairs"] for record in trace.records] == [len(train), len(train) + len(induced)]
    assert all(record["last_loss"] < record["first_loss"] for record in trace.records)
    also = Contrastive(rounds=2, steps=2, max_pairs=100, train_induced=True)
    assert not torch.equal(
        also.fit(x, z, train, generator=generator(), trace=Trace()).source_matrix, mapping.source_matrix
    )


def test_inputs_and_start_are_left_as_they_are(several):
    start = VecMap().fit(*several)
    copy = start.source_matrix.clone()
    Contrastive(steps=1).descend(start, *several, Trace())
    assert torch.equal(start.source_matrix, copy)
    assert not start.source_matrix.requires_grad


@pytest.mark.parametrize(
    "settings",
    [
        {"rounds": 0},
        {"steps": 0},
        {"negatives": 0},
        {"refresh": 0},
        {"max_pairs": 0},
        {"clip": 0.0},
        {"temperature": -1.0},
        {"learning_rate": float("nan")},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingsError, match=r"contrastive: .*; needed"):
        Contrastive(**settings)
