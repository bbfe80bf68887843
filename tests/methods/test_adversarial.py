import pytest
import torch

from bilex import AlignmentError, SettingsError, get_method
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.methods import adversarial
from bilex.methods.adversarial import Adversarial
from bilex.methods.procrustes_refinement import ProcrustesRefinement
from bilex.normalize import unit
from bilex.training.adversarial import Adversary, Selection
from bilex.training.trace import Trace

SMALL = {"epochs": 2, "steps": 5, "restarts": 1, "adversary": Adversary(hidden=8, turns=2)}
NO_PAIRS = torch.empty(0, 2, dtype=torch.long)


def fit(x, z, pairs=NO_PAIRS, *, trace=None, rng_seed=0, **settings):
    generator = torch.Generator().manual_seed(rng_seed)
    return Adversarial(**SMALL | settings).fit(x, z, pairs, generator=generator, trace=trace or Trace())


def test_an_unknown_turn_is_found(turned):
    """Both languages are the same cloud of words, skewed, so that there is one way to turn it back."""
    x, z, order = turned
    assert (x @ z.T).argmax(1).eq(order).double().mean() < 0.5
    trace = Trace()
    settings = {"epochs": 4, "steps": 60, "learning_rate": 0.2, "beta": 0.1, "adversary": Adversary(hidden=64)}
    mapping = fit(x, z, trace=trace, **settings)
    assert (mapping.source(x) @ z.T).argmax(1).eq(order).all()
    assert trace.records[-1]["agreement"] > 0.9
    assert [record["epoch"] for record in trace.records if "epoch" in record] == [0, 1, 2, 3, 4]


def test_tables_that_have_nothing_to_do_with_each_other_are_refused():
    generator = torch.Generator().manual_seed(0)
    x, z = (unit(torch.randn(300, 30, generator=generator)) for _ in range(2))
    with pytest.raises(
        AlignmentError, match=r"adversarial has failed, tried 2 times: .* gives back \d+% of the others, needed 40%"
    ):
        fit(x, z, restarts=2)


def test_no_pairs_are_a_failure_too(turned):
    strict = ProcrustesRefinement(induction=Induction(threshold=9.0))
    with pytest.raises(AlignmentError, match=r"adversarial has failed, tried 1 times: .* gives back 0%"):
        fit(*turned[:2], refinement=strict)


def test_the_best_of_all_restarts_is_refined(turned, monkeypatch):
    x, z, order = turned
    right = procrustes(x, z[order])
    maps = iter([(torch.eye(len(right)), 0.2), (right, 0.7), (-right, 0.6)])
    seen = []

    def play(game, criterion, **_):
        seen.append(game)
        return Selection(*next(maps), 0.1)

    monkeypatch.setattr(adversarial, "play", play)
    mapping = fit(x, z, restarts=3, refinement=ProcrustesRefinement(rounds=0))
    torch.testing.assert_close(mapping.source_matrix, right, atol=1e-4, rtol=0)
    assert all(torch.equal(game.w, torch.eye(len(right))) for game in seen)
    assert len({float(game.discriminator.parameters[0].detach()[0, 0]) for game in seen}) == 3


def test_a_dictionary_is_where_the_map_begins(turned, monkeypatch):
    x, z, order = turned
    pairs = torch.stack([torch.arange(30), order[:30]], 1)

    def play(game, criterion, **_):
        return Selection(game.w, criterion(game.w), 0.1)

    monkeypatch.setattr(adversarial, "play", play)
    method = Adversarial(**SMALL)
    w = method.best_map(x, z, pairs, torch.Generator(), Trace())
    assert torch.equal(w, procrustes(x[pairs[:, 0]], z[pairs[:, 1]]))


def test_the_same_generator_gives_the_same_map(turned, same):
    settings = {"min_agreement": 0.0}
    one, again, other = (fit(*turned[:2], rng_seed=seed, **settings) for seed in (0, 0, 1))
    assert same(one, again)
    assert not same(one, other)


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("epochs", "0", "at least 1"),
        ("steps", "0", "at least 1"),
        ("restarts", "0", "at least 1"),
        ("beta", "-0.1", "at least 0"),
        ("learning_rate", "0.0", "a number above 0"),
        ("adversary.hidden", "0", "at least 1"),
        ("refinement.rounds", "-1", "at least 0"),
    ],
)
def test_bad_settings_are_refused(name, value, needed):
    setting = name.rpartition(".")[2]
    with pytest.raises(SettingsError, match=f"{setting}={value}; needed {needed}"):
        get_method("adversarial", {name: value})
