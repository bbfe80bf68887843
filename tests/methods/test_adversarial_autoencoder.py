import pytest
import torch

from bilex import AlignmentError, SettingsError, get_method
from bilex.methods.adversarial_autoencoder import AdversarialAutoencoder, Cycle, encode
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from bilex.training.adversarial import Adversary
from bilex.training.trace import Trace
from random_tensors import generator

SMALL = {"epochs": 2, "steps": 5, "restarts": 1, "adversary": Adversary(hidden=8, smoothing=0.1, turns=2, batch=6)}
NO_PAIRS = torch.empty(0, 2, dtype=torch.long)


def fit(x, z, pairs=NO_PAIRS, *, trace=None, **settings):
    method = AdversarialAutoencoder(**SMALL | settings)
    return method.fit(x, z, pairs, generator=generator(), trace=trace or Trace())


def skewed(n=200, d=5):
    return torch.rand(n, d, generator=generator(), dtype=torch.float64) ** 2 * torch.linspace(1, 3, d)


@pytest.mark.parametrize("c", [1, 3, 5])
def test_the_code_is_the_one_that_restores_best(c):
    """No linear map of c numbers does better than the singular vectors, and these numbers are as good."""
    rows = skewed()
    codes = encode(rows, c)
    assert codes.shape == (200, c)
    both = torch.cat([codes, torch.ones(200, 1, dtype=codes.dtype)], 1)  # the bias of the decoder
    left = (rows - both @ torch.linalg.lstsq(both, rows).solution).square().sum()
    s = torch.linalg.svdvals(rows - rows.mean(0))
    torch.testing.assert_close(left, s[c:].square().sum(), atol=1e-9, rtol=1e-9)
    assert (codes.pow(3).sum(0) > 0).all()


def test_the_code_does_not_depend_on_how_the_language_is_turned():
    rows = skewed()
    turn = torch.linalg.qr(torch.randn(5, 5, generator=generator(), dtype=torch.float64)).Q
    torch.testing.assert_close(encode(rows @ turn, 3), encode(rows, 3))


def test_a_code_has_no_more_numbers_than_a_word():
    assert encode(skewed(), 200).shape == (200, 5)


def test_each_map_learns_to_deceive_and_to_undo_the_other():
    x, z = skewed(), skewed(150)
    method = AdversarialAutoencoder(**SMALL, beta=0.02)
    game = Cycle(method, x, z, torch.linalg.qr(x[:5]).Q, generator())
    game.learn = game.back.learn = lambda: 0.5
    again = generator()
    again.set_state(game.generator.get_state())
    g, f = game.w, game.back.w
    assert torch.equal(f, g.T)

    def step(w, loss):
        w = w.detach().requires_grad_()
        loss(w).backward()
        w = w.detach() - 0.3 * w.grad
        return 1.02 * w - 0.02 * w @ w.T @ w

    def told_apart(discriminator, rows):
        said = discriminator(rows).sigmoid()
        return -(0.1 * said.log() + 0.9 * (1 - said).log()).mean() / 2

    a = game.x[torch.randint(200, (6,), generator=again)]
    b = a @ g
    g = step(g, lambda w: told_apart(game.discriminator, a @ w))
    f = step(f, lambda w: 5 * (a - b @ w).abs().mean())
    a = game.z[torch.randint(150, (6,), generator=again)]
    c = a @ f
    f = step(f, lambda w: told_apart(game.back.discriminator, a @ w))
    g = step(g, lambda w: 5 * (a - c @ w).abs().mean())
    assert game.turn(0.3) == 0.5
    torch.testing.assert_close(game.w, g)
    torch.testing.assert_close(game.back.w, f)


def test_an_unknown_turn_is_found(turned):
    x, z, order = turned
    trace = Trace()
    mapping = fit(x, z, trace=trace)
    mapped = unit(mapping.source(x)) @ unit(mapping.target(z)).T
    assert mapped.argmax(1).eq(order).all()
    assert trace.records[-1]["agreement"] > 0.9


def test_the_last_pairs_go_to_vecmap(turned):
    x, z, order = turned
    mapping = fit(x, z, rounds=1)
    known = VecMap().fit(x, z, torch.stack([torch.arange(len(x)), order], 1))
    found, expected = (made.source(x) @ made.target(z).T for made in (mapping, known))
    torch.testing.assert_close(found, expected, atol=0.01, rtol=0)


def test_tables_that_have_nothing_to_do_with_each_other_are_refused():
    x, z = (unit(torch.randn(300, 30, generator=generator(seed))) for seed in range(2))
    with pytest.raises(AlignmentError, match=r"adversarial_autoencoder has failed, tried 1 times: .* needed 40%"):
        fit(x, z)


def test_the_same_generator_gives_the_same_map(turned, same):
    assert same(fit(*turned[:2], min_agreement=0.0), fit(*turned[:2], min_agreement=0.0))


@pytest.mark.parametrize("setting", [{"code": "0"}, {"rounds": "0"}, {"cycle": "-1.0"}, {"steps": "0"}])
def test_bad_settings_are_refused(setting):
    with pytest.raises(SettingsError, match=r"adversarial_autoencoder: .*; needed at least"):
        get_method("adversarial_autoencoder", setting)
