import pytest
import torch

from bilex import SettingsError, get_method
from bilex.normalize import unit
from bilex.training.checkpoint import NO_CHECKPOINT, Checkpoint
from bilex.training.trace import Trace

QUICK = {"epochs": "2", "batch": "32", "hard": "8", "random": "8", "learning_rate": "0.01", "tau_source": "0.5"}


class Told(Checkpoint):
    """Tells what would be saved."""

    def __init__(self, told):
        super().__init__(None)
        self.told = told

    def save(self, trace, arrays, **notes):
        self.told.append(notes)


def fit(given, *, rng_seed=0, trace=None, checkpoint=NO_CHECKPOINT, dev=True, **settings):
    x, z, train, held_out = given
    return get_method("rapo", {**QUICK, **settings}).fit(
        x,
        z,
        train,
        dev=held_out if dev else None,
        generator=torch.Generator().manual_seed(rng_seed),
        trace=trace or Trace(),
        checkpoint=checkpoint,
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
    mapping = fit(given, dev=False, epochs="5", shift="0")
    for matrix in (mapping.source_projection, mapping.target_projection):
        assert (matrix @ matrix.T - torch.eye(len(matrix))).abs().max() < 1e-5


def test_free_projections_do_not(given):
    def error(**settings):
        matrix = fit(given, dev=False, epochs="5", projection="linear", shift="0", **settings).source_projection
        return float((matrix @ matrix.T - torch.eye(len(matrix))).abs().max())

    assert error() > 1e-3
    assert error(orthogonality="10") < error()


class TestSchedule:
    """80 pairs to train with. What is computed in a step, tests/training/test_ranking.py tells."""

    @pytest.mark.parametrize(("batch", "steps"), [("32", 3), ("80", 1), ("7", 12)])
    def test_an_epoch_is_all_pairs_in_batches(self, given, rates, batch, steps):
        fit(given, dev=False, start="random", batch=batch, epochs="2", decay="false", learning_rate="0.003")
        assert rates == [0.003] * steps * 2

    def test_the_rate_falls_to_0(self, given, rates):
        fit(given, dev=False, start="random", batch="40", epochs="3", decay="true", learning_rate="0.6")
        assert rates == pytest.approx([0.6, 0.5, 0.4, 0.3, 0.2, 0.1])

    def test_after_epochs_without_a_better_one_it_ends(self, given):
        """Nothing changes, so the start is the best."""
        trace = Trace()
        fit(
            given,
            trace=trace,
            start="procrustes",
            learning_rate="0",
            epochs="9",
            patience="4",
            smooth="1",
            refit="false",
        )
        assert [record["epoch"] for record in trace.records if "epoch" in record] == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize(("choose_by", "figure"), [("mrr", "dev"), ("p_at_1", "dev_p_at_1")])
    def test_the_figure_that_chooses_the_epoch(self, given, choose_by, figure):
        """Of equal ones, the first."""
        trace, told = Trace(), []
        more = {"start": "random", "learning_rate": "0.05", "smooth": "1", "epochs": "4", "patience": "4"}
        fit(given, trace=trace, choose_by=choose_by, checkpoint=Told(told), **more)
        figures = [record[figure] for record in trace.records if record["stage"] == "choose"]
        bests = [notes["best"] for notes in told if notes["stage"] == "choose"]
        assert bests == [max(figures[: i + 1]) for i in range(4)]

    @pytest.mark.parametrize("smooth", [1, 2])
    def test_the_epoch_is_chosen_by_the_mean_of_the_last_figures(self, given, smooth, same):
        """Then it is trained for that long, once more on all pairs, or only until there."""
        trace, more = (
            Trace(),
            {"start": "random", "learning_rate": "0.05", "epochs": "3", "decay": "false", "shift": "0"},
        )
        found = fit(given, trace=trace, smooth=str(smooth), **more)
        dev = [record["dev"] for record in trace.records if record["stage"] == "choose"]
        means = [sum(dev[max(0, i + 1 - smooth) : i + 1]) / min(i + 1, smooth) for i in range(4)]
        chosen = means.index(max(means))
        assert 0 < chosen < 3
        refitted = [record for record in trace.records if record["stage"] == "refit"]
        assert [record["epoch"] for record in refitted] == list(range(chosen + 1))
        x, z, train, held_out = given
        everything = x, z, torch.cat([train, held_out]), None
        assert same(found, fit(everything, dev=False, **{**more, "epochs": str(chosen)}))
        until = fit(given, smooth=str(smooth), refit="false", **more)
        assert same(until, fit(given, dev=False, **{**more, "epochs": str(chosen)}))


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
    ({"hard": "0", "random": "0"}, "no loss is left to train on"),
    ({"ranking": "0"}, "no loss is left to train on"),
    ({"orthogonality": "1"}, "reflections are always orthogonal"),
    ({"start": "rapo"}, "is not a linear method"),
    ({"start": "vecmpa"}, "did you mean 'vecmap'"),
    ({"normalize": "unit,center"}, "let normalize end in unit"),
    ({"normalize": ""}, "let normalize end in unit"),
    ({"learning_rate": "nan"}, "learning_rate='nan': needed a finite number"),
    *[({name: "0"}, f"{name}=0; needed") for name in ("context_cap", "batch", "patience", "smooth", "k")],
    *[({name: "-1"}, f"{name}=-1") for name in ("hard", "random", "warm_up", "epochs", "lambda_1", "lambda_2")],
    ({"activation": "relu"}, "needed one of linear, tanh, sigmoid, none"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(settings) for settings, _ in BAD])
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        get_method("rapo", settings)
