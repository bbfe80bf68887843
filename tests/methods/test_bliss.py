import pytest
import torch

from bilex.errors import SettingsError
from bilex.linalg.procrustes import procrustes
from bilex.methods import bliss
from bilex.methods.bliss import Bliss, Turns
from bilex.normalize import unit
from bilex.training.adversarial import Adversary
from bilex.training.trace import Trace
from random_tensors import generator

SMALL = Adversary(hidden=8, dropout=0.1, smoothing=0.1, turns=2, batch=6)


def fit(given, *, trace=None, **settings):
    settings = {"epochs": 2, "steps": 3, "batch": 10, "k": 3, "adversary": SMALL} | settings
    return Bliss(**settings).fit(*given, generator=generator(), trace=trace or Trace())


def scripted(monkeypatch, told):
    """The criterion says these values in turn."""
    told = iter(told)
    monkeypatch.setattr(bliss, "mean_csls", lambda x, z: next(told))


def test_a_turn_has_a_step_for_each_loss(uneven):
    x, z, pairs = uneven
    method = Bliss(batch=len(pairs), k=3, adversary=SMALL, supervised_rate=0.7)
    game = Turns(method, x, z, pairs, generator())
    discriminator, again = game.discriminator, generator()
    again.set_state(game.generator.get_state())

    def drawn():
        return (x / x.square().mean().sqrt())[torch.randint(len(x), (6,), generator=again)]

    def told_apart(w):
        said = discriminator(drawn() @ w).sigmoid()
        return -(0.1 * said.log() + 0.9 * (1 - said).log()).mean() / 2

    def rcsls(w):
        scores = x @ w @ z.T
        near_z, near_x = scores.topk(3, dim=1).values.mean(1), scores.topk(3, dim=0).values.mean(0)
        i, j = pairs[torch.randperm(len(pairs), generator=again)].T
        return -(2 * scores[i, j] - near_z[i] - near_x[j]).mean()

    def bent(w):
        rows = drawn()
        back = rows @ w @ w.T
        return -((rows * back).sum(1) / rows.norm(dim=1) / back.norm(dim=1)).mean()

    w = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
    for loss, rate in ((told_apart, 0.2), (rcsls, 0.7), (bent, 0.2)):
        w = w.detach().requires_grad_()
        loss(w).backward()
        w = w - rate * w.grad
    before = [parameter.detach().clone() for parameter in discriminator.weights]
    assert game.turn(0.6) > 0
    torch.testing.assert_close(game.w, w.detach())
    assert not any(torch.equal(*both) for both in zip(before, discriminator.weights, strict=True))


def test_steps_pull_towards_orthogonal_maps(uneven):
    x, z, pairs = uneven
    game = Turns(Bliss(adversary=SMALL), x, z, pairs, generator())
    bent = game.w * torch.linspace(0.5, 1.5, 5)
    game.w = bent
    for _ in range(200):
        rows = game.draw(game.x)
        game.descend(lambda w, rows=rows: -torch.cosine_similarity(rows, rows @ w @ w.T).mean(), 0.3)
    before, after = (torch.linalg.svdvals(w) for w in (bent, game.w))
    assert after[0] / after[-1] < 1.2 < before[0] / before[-1]


def test_the_procrustes_map_stays_if_nothing_is_better(uneven, monkeypatch):
    x, z, pairs = uneven
    scripted(monkeypatch, [0.9, 0.1, 0.2, 0.8])
    trace = Trace()
    mapping = fit(uneven, trace=trace)
    assert torch.equal(mapping.source_matrix, procrustes(x[pairs[:, 0]], z[pairs[:, 1]]))
    assert [record.get("criterion") for record in trace.records] == [0.9, 0.1, 0.2, 0.8]
    assert trace.records[-1]["round"] == 1


def test_rounds_are_taken_as_long_as_they_are_better(uneven, monkeypatch):
    x, z, _ = uneven
    scripted(monkeypatch, [0.1, 0.2, 0.3, 0.4, 0.5, 0.5])
    trace = Trace()
    mapping = fit(uneven, trace=trace)
    w = fit_epochs_only(uneven, monkeypatch)
    for _ in range(2):
        pairs = Bliss(k=3).translations(unit(x @ w), z, generator())
        w = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
    torch.testing.assert_close(mapping.source_matrix, w)
    assert [record["round"] for record in trace.records[3:]] == [1, 2, 3]


def fit_epochs_only(given, monkeypatch):
    scripted(monkeypatch, [0.1, 0.2, 0.3])
    return fit(given, rounds=0).source_matrix


def test_rare_translations_and_hubs_are_left_out(uneven):
    x, z, _ = uneven
    method = Bliss(k=3, max_rank=40, most_hits=1)
    cosines = x @ z.T
    scores = 2 * cosines - cosines.topk(3, dim=0).values.mean(0)
    found = scores.argmax(1).tolist()
    expected = [[i, j] for i, j in enumerate(found) if j < 40 and found.count(j) <= 1]
    assert 0 < len(expected) < sum(j < 40 for j in found)
    assert method.translations(x, z, generator()).tolist() == expected


def test_the_rate_of_the_dictionary_never_falls(uneven, monkeypatch):
    x, z, pairs = uneven
    game = Turns(Bliss(k=3, adversary=SMALL), x, z, pairs, generator())
    monkeypatch.setattr(game.criterion.__class__, "loss", lambda *_: (0.0, torch.ones_like(game.w)))
    for rate in (1.0, 0.01):
        game.deceive = game.descend = lambda *_: None
        before = game.w
        game.turn(rate)
        torch.testing.assert_close(before - game.w, torch.ones_like(game.w))


def test_better_than_procrustes_on_few_pairs(uneven):
    x, z, pairs = uneven
    mapping = fit((x, z, pairs[:6]), epochs=4, steps=20)
    start = procrustes(x[pairs[:6, 0]], z[pairs[:6, 1]])
    before, after = ((unit(x @ w) * z[:60]).sum(1).mean() for w in (start, mapping.source_matrix))
    assert after > before


def test_the_same_generator_gives_the_same_map(uneven, same):
    assert same(fit(uneven), fit(uneven))


@pytest.mark.parametrize(
    "settings",
    [
        {"epochs": 0},
        {"steps": 0},
        {"batch": 0},
        {"most_hits": 0},
        {"rounds": -1},
        {"learning_rate": 0.0},
        {"supervised_rate": 0.0},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingsError, match=r"bliss: .*; needed"):
        Bliss(**settings)


def test_rows_are_to_have_unit_length():
    with pytest.raises(SettingsError, match="let normalize end in unit"):
        Bliss(normalize=("unit", "center"))
