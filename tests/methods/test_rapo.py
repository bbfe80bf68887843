import pytest
import torch

from bilex import SettingsError, get_method
from bilex.normalize import unit
from bilex.trace import Trace

QUICK = {"epochs": "2", "batch": "32", "hard": "8", "random": "8", "learning_rate": "0.01", "tau_source": "0.5"}


def fit(given, *, rng_seed=0, trace=None, dev=True, **settings):
    x, z, train, held_out = given
    return get_method("rapo", {**QUICK, **settings}).fit(
        x,
        z,
        train,
        dev=held_out if dev else None,
        generator=torch.Generator().manual_seed(rng_seed),
        trace=trace or Trace(),
    )


def test_the_seed_decides(given, same):
    more = {"refit": "false", "patience": "9", "smooth": "1"}
    one = fit(given, dev=False, **more)
    assert same(one, fit(given, dev=False, **more))
    assert not same(one, fit(given, dev=False, rng_seed=1, **more))


VARIANTS = {
    "default": {},
    "no epoch is better than the start": {"learning_rate": "0"},
    "random start": {"start": "random", "activation": "tanh", "warm_up": "1", "negatives": "fresh"},
    "free": {
        "start": "random",
        "projection": "linear",
        "orthogonality": "0.1",
        "two_way": "true",
        "lambda_1": "0.5",
        "lambda_2": "0.1",
    },
}


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_killed_and_resumed_is_the_same_to_the_bit(given, check_resuming, settings):
    """In both stages."""
    settings = {"epochs": "3", "smooth": "2", **settings}
    whole = check_resuming(lambda **more: fit(given, **more, **settings))
    refitted = sum(record["stage"] == "refit" for record in whole.records)
    assert refitted == (1 if "learning_rate" in settings else 4)


def test_projections_stay_orthogonal(given):
    mapping = fit(given, dev=False, epochs="5")
    for matrix in (mapping.source_projection, mapping.target_projection):
        assert (matrix @ matrix.T - torch.eye(len(matrix))).abs().max() < 1e-5


def test_free_projections_do_not(given):
    def error(**settings):
        matrix = fit(given, dev=False, epochs="5", projection="linear", **settings).source_projection
        return float((matrix @ matrix.T - torch.eye(len(matrix))).abs().max())

    assert error() > 1e-3
    assert error(orthogonality="10") < error()


INGREDIENTS = [
    {"start": "random"},
    {"start": "procrustes"},
    {"activation": "none"},
    {"activation": "tanh"},
    {"activation": "sigmoid"},
    {"projection": "linear"},
    {"projection": "linear", "orthogonality": "1"},
    {"tau_source": "0.99"},
    {"tau_target": "0.4"},
    {"context_cap": "2"},
    {"hard": "0"},
    {"random": "0"},
    {"negatives": "fresh"},
    {"warm_up": "1"},
    {"ranking": "0", "lambda_1": "1"},
    {"lambda_1": "1"},
    {"lambda_1": "1", "distance": "squared"},
    {"lambda_2": "1"},
    {"lambda_2": "1", "regularize": "all"},
    {"count": "pairs"},
    {"learning_rate": "0.02", "decay": "true"},
    {"two_way": "true"},
    {"k": "3"},
    {"batch": "16"},
]


def test_every_ingredient_counts(given):
    """No two of the variants map the words alike."""
    x, z, train, dev = given
    second = torch.stack([train[:9, 0], train[9:18, 1]], 1)  # some words have two translations
    given = x, z, torch.cat([train, second]), dev
    variants = [{}, *INGREDIENTS]
    scores = []
    for settings in variants:
        mapping = fit(given, dev=False, **settings)
        scores.append(unit(mapping.source(x)) @ unit(mapping.target(z)).T)
        assert scores[-1].isfinite().all()
    for i, one in enumerate(scores):
        for j in range(i):
            assert (one - scores[j]).abs().max() > 1e-5, (variants[i], variants[j])


def test_refit_learns_from_dev_too(given, same):
    more = {"patience": "9", "smooth": "1"}
    assert not same(fit(given, **more), fit(given, refit="false", **more))


def test_training_lowers_the_ranking_loss(given):
    trace = Trace()
    fit(given, dev=False, trace=trace, epochs="8")
    losses = [record["ranking"] for record in trace.records if "ranking" in record]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("words", [1, 2, 5])
@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_tiny_tables(words, settings):
    """Fewer words than negatives, neighbours and dimensions, and one pair to choose by."""
    rows = unit(torch.randn(words, 8, generator=torch.Generator().manual_seed(0)))
    pairs = torch.arange(words)[:, None].expand(-1, 2)
    given = rows, rows.flip(1).contiguous(), pairs, pairs[:1]
    mapping = fit(given, context_cap="3", k="10", hard="64", random="64", **settings)
    assert mapping.source(rows).isfinite().all()


BAD = [
    ({"reflections": "3"}, "needs all reflections"),
    ({"reflections": "0", "start": "random"}, "reflections=0; needed at least 1"),
    ({"hard": "0", "random": "0"}, "nothing to learn"),
    ({"ranking": "0"}, "nothing to learn"),
    ({"orthogonality": "1"}, "orthogonal as they are"),
    ({"start": "rapo"}, "is no linear method"),
    ({"start": "vecmpa"}, "did you mean 'vecmap'"),
    ({"normalize": "unit,center"}, "let normalize end in unit"),
    ({"normalize": ""}, "let normalize end in unit"),
    ({"learning_rate": "nan"}, "learning_rate=nan; needed at least 0"),
    *[({name: "0"}, f"{name}=0; needed") for name in ("context_cap", "batch", "patience", "smooth", "k")],
    *[({name: "-1"}, f"{name}=-1") for name in ("hard", "random", "warm_up", "epochs", "lambda_1", "lambda_2")],
    ({"activation": "relu"}, "needed one of linear, tanh, sigmoid, none"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(settings) for settings, _ in BAD])
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        get_method("rapo", settings)
