import pytest
import torch

from bilex import AlignmentError, SettingsError, get_method
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.methods import adversarial
from bilex.methods.adversarial import Adversarial, Attempt
from bilex.methods.procrustes_refinement import ProcrustesRefinement
from bilex.normalize import unit
from bilex.training.adversarial import Adversary, Game
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
    settings["enough_agreement"] = 2.0
    mapping = fit(x, z, trace=trace, **settings)
    assert (mapping.source(x) @ z.T).argmax(1).eq(order).all()
    assert trace.records[-1]["agreement"] > 0.9
    assert [record["epoch"] for record in trace.records if "epoch" in record] == [1, 2, 3, 4]


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


def test_the_published_schedule(turned):
    """The mean cosine of translations chooses the epoch, and shrinks the rate where it does not grow."""
    x, z, order = turned
    trace = Trace()
    settings = {"epochs": 4, "steps": 60, "learning_rate": 0.2, "beta": 0.1, "adversary": Adversary(hidden=64)}
    mapping = fit(x, z, trace=trace, choose_by="cosine", **settings)
    assert (mapping.source(x) @ z.T).argmax(1).eq(order).all()
    epochs = [record for record in trace.records if "epoch" in record]
    assert [record["epoch"] for record in epochs] == [0, 1, 2, 3, 4]
    assert all(record["learning_rate"] <= 0.2 * 0.98 ** (record["epoch"] - 1) for record in epochs[1:])
    best = max(record["criterion"] for record in epochs)
    assert best > epochs[0]["criterion"]


def test_rows_as_they_are(turned):
    x, z, _ = turned
    start, generator = torch.eye(x.shape[1]), torch.Generator().manual_seed(0)
    plain = Game(Adversary(hidden=8, scale=False), 3 * x, z, start, generator)
    assert torch.equal(plain.x, 3 * x)
    scaled = Game(Adversary(hidden=8), 3 * x, z, start, generator)
    assert float(scaled.x.square().mean()) == pytest.approx(1)


def attempts(monkeypatch, *told):
    """Trainings end with these maps and agreements, in turn. Their games."""
    told, games = iter(told), []

    def train(self, game, *_):
        games.append(game)
        return Attempt(*next(told))

    monkeypatch.setattr(Adversarial, "train", train)
    return games


def test_the_attempt_whose_pairs_agree_most_is_refined(turned, monkeypatch):
    x, z, order = turned
    right = procrustes(x, z[order])
    games = attempts(monkeypatch, (torch.eye(len(right)), 0.2), (right, 0.45), (-right, 0.3))
    mapping = fit(x, z, restarts=3, refinement=ProcrustesRefinement(rounds=0))
    torch.testing.assert_close(mapping.source_matrix, right, atol=1e-4, rtol=0)
    assert all(torch.equal(game.w, torch.eye(len(right))) for game in games)
    assert len({float(game.discriminator.weights[0][0, 0]) for game in games}) == 3


def test_there_is_no_restart_once_the_pairs_agree(turned, monkeypatch):
    x, z, order = turned
    games = attempts(monkeypatch, (procrustes(x, z[order]), 0.5))
    fit(x, z, restarts=3)
    assert len(games) == 1


@pytest.mark.parametrize(("enough", "epochs", "kept"), [(0.4, 2, 2), (0.9, 4, 3)])
def test_training_ends_when_the_pairs_agree(turned, monkeypatch, enough, epochs, kept):
    """The attempt is the repaired map of the epoch whose pairs agree most."""
    x, z, _ = turned
    told, given = iter([0.1, 0.4, 0.6, 0.5]), []
    monkeypatch.setattr(adversarial, "repair", lambda w, *_: given.append(w) or Attempt(2 * w, next(told)))
    generator, trace = torch.Generator().manual_seed(0), Trace()
    method = Adversarial(**SMALL | {"epochs": 4}, enough_agreement=enough)
    attempt = method.train(Game(method.adversary, x, z, torch.eye(6), generator), x, z, generator, trace)
    assert [record["agreement"] for record in trace.records] == [0.1, 0.4, 0.6, 0.5][:epochs]
    assert torch.equal(attempt.w, 2 * given[kept - 1])
    assert not torch.equal(given[0], given[1])


def test_a_map_is_repaired_by_its_own_pairs(turned):
    """It is far off and nearly singular; the pairs of the right one agree, those of another do not."""
    x, z, order = turned
    right, generator = procrustes(x, z[order]), torch.Generator().manual_seed(0)
    bent = right * torch.linspace(0.05, 1.5, 6) + 0.1 * torch.randn(6, 6, generator=generator)
    attempt = adversarial.repair(bent, x, z, generator)
    torch.testing.assert_close(attempt.w, right, atol=1e-4, rtol=0)
    assert attempt.agreement > 0.9


def test_a_map_without_pairs_has_no_agreement(turned, monkeypatch):
    x, z, _ = turned
    monkeypatch.setattr(adversarial, "Induction", lambda **_: Induction(threshold=9.0))
    assert adversarial.repair(torch.eye(6), x, z, torch.Generator()).agreement == 0


def test_a_dictionary_is_where_the_map_begins(turned, monkeypatch):
    x, z, order = turned
    pairs = torch.stack([torch.arange(30), order[:30]], 1)

    monkeypatch.setattr(Adversarial, "train", lambda self, game, *_: Attempt(game.w, 0.5))
    method = Adversarial(**SMALL)
    w = method.best_map(x, z, pairs, torch.Generator(), Trace())
    assert torch.equal(w, procrustes(x[pairs[:, 0]], z[pairs[:, 1]]))


def test_the_same_generator_gives_the_same_map(turned, same):
    traces = [Trace() for _ in range(3)]
    one, again, _ = (
        fit(*turned[:2], trace=trace, rng_seed=seed) for seed, trace in zip((0, 0, 1), traces, strict=True)
    )
    assert same(one, again)
    losses = [trace.records[0]["discriminator_loss"] for trace in traces]
    assert losses[0] == losses[1] != losses[2]


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("epochs", "0", "at least 1"),
        ("steps", "0", "at least 1"),
        ("restarts", "0", "at least 1"),
        ("beta", "-0.1", "at least 0"),
        ("enough_agreement", "-0.1", "at least 0"),
        ("learning_rate", "0.0", "a number above 0"),
        ("adversary.hidden", "0", "at least 1"),
        ("refinement.rounds", "-1", "at least 0"),
    ],
)
def test_bad_settings_are_refused(name, value, needed):
    setting = name.rpartition(".")[2]
    with pytest.raises(SettingsError, match=f"{setting}={value}; needed {needed}"):
        get_method("adversarial", {name: value})
