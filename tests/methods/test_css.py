import importlib

import pytest
import torch

from bilex.errors import MissingExtraError, SettingsError
from bilex.induction.induction import Induction
from bilex.linalg.householder import polar
from bilex.linalg.procrustes import procrustes
from bilex.methods.css import Css
from bilex.normalize import unit
from bilex.training.trace import Trace
from random_tensors import generator, normal

pytest.importorskip("ot")


def slow_descent(q, x, z, pairs, *, k, rate, steps):
    """Whole-batch descent on the criterion of RCSLS, by automatic differentiation of whole score lists."""
    losses = []
    for _ in range(steps):
        q = q.detach().requires_grad_()
        scores = x @ q @ z.T
        near_z, near_x = scores.topk(k, dim=1).values.mean(1), scores.topk(k, dim=0).values.mean(0)
        i, j = pairs.T
        loss = -(2 * scores[i, j] - near_z[i] - near_x[j]).mean()
        loss.backward()
        losses.append(loss.item())
        q = (q - rate * q.grad).detach()
    return q, sum(losses) / steps


def slow_transport(q, prior, x, z, *, k, steps, size, temperature, epsilon):
    """Transport of all sources, step by step as published, with whole matrices."""
    s = unit(x @ prior) @ z.T
    r_row, r_col = s.topk(k, dim=1).values.mean(1), s.topk(k, dim=0).values.mean(0)
    t = ((s - r_row[:, None] - r_col) / temperature).softmax(1)
    for _ in range(steps):
        plan = (x @ q @ z.T / epsilon).exp() * t
        for _ in range(1000):
            plan = plan / plan.sum(0) / len(z)
            plan = plan / plan.sum(1, keepdim=True) / len(x)
        hard = torch.zeros_like(plan)
        hard[torch.arange(len(x)), plan.argmax(1)] = 1
        q = polar(q + size * x.T @ hard @ z)[1]
    return q


def test_whole_batches_are_gradient_descent(uneven):
    x, z, pairs = uneven
    method = Css(steps=4, batch=len(pairs), learning_rate=0.5, k=3)
    q, record = method.supervise(normal(5, 5), x, z, pairs, generator(), Trace())
    expected, loss = slow_descent(normal(5, 5), x, z, pairs, k=3, rate=0.5, steps=4)
    torch.testing.assert_close(q, expected)
    assert record == {"pairs": 20, "loss": pytest.approx(loss)}


def test_the_pool_is_where_neighbours_are(uneven):
    x, z, pairs = uneven
    method = Css(steps=2, batch=len(pairs), learning_rate=0.5, k=3, pool=30)
    q, _ = method.supervise(normal(5, 5), x, z, pairs, generator(), Trace())
    expected, _ = slow_descent(normal(5, 5), x[:30], z[:30], pairs, k=3, rate=0.5, steps=2)
    torch.testing.assert_close(q, expected)


@pytest.mark.parametrize(("max_rank", "candidates"), [(1000, 1000), (40, 50), (50, 40)])
def test_transport_as_step_by_step(uneven, max_rank, candidates):
    x, z, pairs = uneven
    start, prior = procrustes(x[pairs[:, 0]], z[pairs[:, 1]]), normal(5, 5)
    settings = {"k": 3, "temperature": 0.2, "epsilon": 0.5}
    method = Css(
        samples=3, step_size=0.1, tolerance=1e-12, iterations=2000, max_rank=max_rank, candidates=candidates, **settings
    )
    q, record = method.transport(start, x, z, generator(), Trace(), prior=prior)
    expected = slow_transport(start, prior, x[:max_rank], z[:candidates], steps=3, size=0.1, **settings)
    torch.testing.assert_close(q, expected)
    torch.testing.assert_close(q @ q.T, torch.eye(5, dtype=q.dtype))
    assert 0 < record["cosine"] <= 1


def test_transport_improves_a_map_of_few_pairs(uneven):
    x, z, _ = uneven
    few = torch.arange(4)[:, None].expand(-1, 2)
    start = procrustes(x[few[:, 0]], z[few[:, 1]])
    q, _ = Css(samples=30, sample=30).transport(start, x, z, generator(), Trace(), prior=start)
    before, after = (((x @ w) * z[:60]).sum(1).mean() for w in (start, q))
    assert after > before


def test_the_lexicon_has_the_dictionary_and_the_surest_pairs(uneven):
    x, z, pairs = uneven
    q = procrustes(x, z[:60])
    induction = Induction(confidence="mean_margin", max_pairs=30, k=3)
    lexicon, record = Css(induction=induction).enlarge(q, x, z, pairs, generator())
    assert lexicon[:20].tolist() == pairs.tolist()
    assert lexicon[20:].tolist() == induction(unit(x @ q), z, generator()).pairs.tolist()
    assert len(torch.unique(lexicon, dim=0)) < len(lexicon) == 50  # a pair may come twice
    assert record == {"induced": 30}


def test_epochs(uneven):
    x, z, pairs = uneven
    method, trace = Css(epochs=3, steps=2, samples=2, sample=30, learning_rate=0.5), Trace()
    mapping = method.fit(x, z, pairs, generator=generator(), trace=trace)
    random, q, lexicon = generator(), procrustes(x[pairs[:, 0]], z[pairs[:, 1]]), pairs
    for _ in range(2):
        q, _ = method.supervise(q, x, z, lexicon, random, Trace())
        q, _ = method.transport(q, x, z, random, Trace(), prior=q)
        lexicon, _ = method.enlarge(q, x, z, pairs, random)
    q, _ = method.supervise(q, x, z, lexicon, random, Trace())
    assert torch.equal(mapping.source_matrix, q)
    assert [record["epoch"] for record in trace.records] == [1, 2, 3]
    assert [set(record) - {"epoch"} for record in trace.records] == [
        *[{"pairs", "loss", "cosine", "induced"}] * 2,
        {"pairs", "loss"},
    ]
    assert trace.records[1]["pairs"] == len(pairs) + trace.records[0]["induced"]


def test_without_pot_the_extra_is_named_before_any_work(uneven, monkeypatch):
    def refuse(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    trace = Trace()
    with pytest.raises(MissingExtraError, match=r"css needs the package POT: pip install 'bilex\[transport\]'"):
        Css().fit(*uneven, generator=generator(), trace=trace)
    assert not trace.records


@pytest.mark.parametrize(
    "settings",
    [{"epochs": 0}, {"sample": 0}, {"samples": -1}, {"temperature": 0.0}, {"tolerance": -1.0}, {"iterations": 0}],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingsError, match=r"css: .*; needed"):
        Css(**settings)


def test_rows_are_to_have_unit_length():
    with pytest.raises(SettingsError, match="let normalize end in unit"):
        Css(normalize=("unit", "center"))
