import pytest

from bilex import align, get_method
from bilex.fitting.fit import fit, split
from bilex.fitting.inputs import collect
from bilex.methods.base import Method
from bilex.methods.self_learning import SelfLearning
from bilex.training.trace import Trace
from bilex.tune.trial import UNPRUNED_EPOCHS, Outcome, Task, inputs_of, run_trial, with_dev

QUICK = {"epochs": "5", "hard": "8", "start": "random", "learning_rate": "0.03", "batch": "16", "patience": "5"}


def task(pruning_thresholds=(), **settings):
    return Task(number=3, settings=settings, pruning_thresholds=pruning_thresholds)


def test_dev_words_are_ranked_and_not_trained_on(collected, world):
    outcome = run_trial(collected("ridge"), task(penalty="30"))
    expected = align(world.source, world.target, world.train, method=get_method("ridge", {"penalty": "30"}))
    scores = expected.evaluate(world.test)
    assert (outcome.number, outcome.state, outcome.error) == (3, "done", None)
    assert (outcome.mrr, outcome.p_at_1) == (scores.scores.mrr, scores.scores.p_at_1)
    assert outcome.ranks == tuple(scores.ranks.values())
    assert float(outcome.reciprocal_ranks().mean()) == pytest.approx(outcome.mrr)
    assert outcome.seconds > 0


def test_a_method_that_refits_does_not(collected):
    inputs = inputs_of(collected("geomm"), task(penalty="30"))
    assert inputs.method == get_method("geomm", {"penalty": "30", "refit": "false"})
    assert inputs.dev is not None


def test_a_method_that_must_train_on_dev_is_given_another(collected, world, monkeypatch):
    monkeypatch.setattr(SelfLearning, "without_refit", Method.without_refit)
    inputs = inputs_of(collected("self_learning"), task(rounds="1"))
    assert inputs.dev is None
    train, dev = split(inputs)
    assert dev is not None
    assert set(train.sources) | set(dev.sources) == set(world.train.sources)


def test_dev_is_held_out_for_any_method(world):
    inputs = with_dev(collect(world.source, world.target, world.train, method="ridge"))
    assert len(inputs.dev.sources) == 8
    assert not inputs.dev.shared_sources(inputs.train)
    assert with_dev(inputs) is inputs


def test_a_chosen_epoch_counts_and_not_the_best(collected):
    inputs, trace = collected("rapo", QUICK), Trace()
    outcome = run_trial(inputs, task(smooth="3", shift="0"))
    fit(inputs_of(inputs, task(smooth="3", shift="0")), trace=trace)
    dev = [record["dev"] for record in trace.records if "dev" in record]
    assert outcome.epochs == tuple(dev)
    smooth = [sum(dev[max(0, i - 2) : i + 1]) / len(dev[max(0, i - 2) : i + 1]) for i in range(len(dev))]
    assert outcome.mrr == pytest.approx(dev[smooth.index(max(smooth))], abs=1e-3)


def test_below_the_bars_it_ends(collected):
    pruning_thresholds = (0.0,) * UNPRUNED_EPOCHS + (2.0,)
    outcome = run_trial(collected("rapo", QUICK), task(pruning_thresholds))
    assert (outcome.state, len(outcome.epochs), outcome.mrr) == ("stopped", UNPRUNED_EPOCHS + 1, None)
    assert run_trial(collected("rapo", QUICK), task((2.0, 2.0, 2.0, 0.0))).state == "done"
    assert run_trial(collected("rapo", {**QUICK, "epochs": "2"}), task(pruning_thresholds)).state == "done"


def test_a_refusal_is_an_outcome(collected):
    outcome = run_trial(collected("ridge"), task(penalty="-1"))
    assert outcome.state == "failed"
    assert "needed a number above 0" in outcome.error


def test_a_breakdown_is_an_outcome_too(collected, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("odd")

    monkeypatch.setattr("bilex.fitting.fit.fit", fail)
    assert run_trial(collected("ridge"), task()).error == "RuntimeError: odd"


def test_json(collected):
    outcome = run_trial(collected("ridge"), task(penalty="30"))
    assert Outcome.from_json(outcome.to_json()) == outcome
