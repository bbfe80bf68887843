from dataclasses import replace

import pytest

from bilex.errors import AlignmentError, SettingsError
from bilex.tune.search import Budget, judge, one_after_another, search
from bilex.tune.space import Space
from bilex.tune.study import Study
from bilex.tune.trial import Outcome


def done(number=0, seconds=60.0, ranks=(1, 2), **more):
    mrr = sum(1 / rank for rank in ranks) / len(ranks)
    made = Outcome(
        number=number, settings={"penalty": str(number)}, state="done", seconds=seconds, ranks=ranks, mrr=mrr
    )
    return replace(made, p_at_1=50.0, **more)


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path / "study.journal", Space.of("ridge", {}), kind="tpe", rng_seed=0)


class TestBudget:
    def test_the_defaults_are_always_tried(self):
        assert Budget(minutes=0).left([]) == 1
        assert Budget(trials=1).left([], batch=8) == 1

    def test_no_trial_begins_that_would_end_too_late(self):
        budget = Budget(minutes=3)
        assert budget.left([done()]) == 1
        assert budget.left([done(), done()]) == 1
        assert budget.left([done(), done(), done()]) == 0
        assert budget.left([done(), done(seconds=80)]) == 0

    def test_what_was_stopped_counts_but_says_nothing_of_how_long_one_takes(self):
        stopped = replace(done(seconds=1), state="stopped")
        assert Budget(minutes=2).left([done(), stopped]) == 0
        assert Budget(minutes=2.1).left([done(), stopped]) == 1

    def test_trials(self):
        assert Budget(trials=3).left([done(), done()], batch=4) == 1
        assert Budget(trials=3).left([done()] * 3) == 0
        assert Budget(trials=2).left([done()] * 3) == 0

    def test_whichever_is_first(self):
        assert Budget(minutes=100, trials=1).left([done()]) == 0
        assert Budget(minutes=1, trials=100).left([done()]) == 0

    def test_a_batch_runs_at_the_same_time(self):
        assert Budget(minutes=3).left([done()] * 3, batch=2) == 2

    def test_a_batch_is_as_long_as_its_longest_trial(self):
        assert Budget(minutes=30).left([done(seconds=1200)], batch=8) == 0
        assert Budget(minutes=4).left([done(), done(seconds=10), done(), done()], batch=2) == 2
        assert Budget(minutes=3).left([done(), done(seconds=10), done(), done()], batch=2) == 0

    def test_there_must_be_an_end(self):
        with pytest.raises(SettingsError, match="needs a limit"):
            Budget()


class TestVerdict:
    def test_no_trial_is_better(self):
        verdict = judge([done(0, ranks=(1, 2)), done(1, ranks=(2, 2))])
        assert verdict.defaults_stand
        assert verdict.chosen is verdict.best is verdict.default

    def test_by_chance(self):
        verdict = judge([done(0, ranks=(2, 1, 1, 1)), done(1, ranks=(1, 1, 1, 1))])
        assert verdict.gain == 0.125
        assert verdict.standard_error == pytest.approx(0.125 * 3**0.5 / 2)
        assert verdict.defaults_stand  # a single word
        verdict = judge([done(0, ranks=(3, 1, 1, 2)), done(1, ranks=(1, 1, 2, 2))])
        assert verdict.gain > 0
        assert verdict.defaults_stand
        assert verdict.chosen is verdict.default

    def test_clearly(self):
        verdict = judge([done(0, ranks=(2, 2, 3)), done(1, ranks=(1, 1, 2)), done(2, ranks=(1, 1, 3))])
        assert (verdict.chosen.number, verdict.defaults_stand) == (1, False)

    def test_only_trials_that_are_done_can_win(self):
        stopped = replace(done(1, ranks=(1, 1)), state="stopped")
        assert judge([done(0, ranks=(2, 2)), stopped]).best.number == 0


def test_until_the_budget_is_used_up(study, invented):
    heard = []
    verdict = search(study, Budget(minutes=10), invented, listener=heard.append)
    assert heard == study.outcomes
    assert len(heard) == 10
    assert verdict.best.mrr == max(outcome.mrr for outcome in heard)


def test_batches_after_the_defaults(study, invented):
    sizes = []

    def evaluate_many(tasks):
        sizes.append(len(tasks))
        return invented(tasks)

    search(study, Budget(trials=8), evaluate_many, batch=3)
    assert sizes == [1, 3, 3, 1]


def test_a_search_in_batches_that_is_interrupted_goes_on_as_it_would_have(study, invented, tmp_path):
    def interrupted(tasks):
        for outcome in invented(tasks):
            if outcome.number == 12:
                raise KeyboardInterrupt
            yield outcome

    whole = Study(tmp_path / "whole", Space.of("ridge", {}), kind="tpe", rng_seed=0)
    search(whole, Budget(trials=16), invented, batch=3)
    with pytest.raises(KeyboardInterrupt):
        search(study, Budget(trials=16), interrupted, batch=3)
    assert len(study.outcomes) == 10
    again = Study(tmp_path / "study.journal", Space.of("ridge", {}), kind="tpe", rng_seed=0)
    search(again, Budget(trials=16), invented, batch=3)
    assert again.outcomes == whole.outcomes


def test_a_trial_that_fails_is_one_of_many(study, invented):
    def evaluate_many(tasks):
        for outcome in invented(tasks):
            yield replace(outcome, state="failed", mrr=None, error="no") if outcome.number % 2 else outcome

    verdict = search(study, Budget(trials=6), evaluate_many)
    assert [outcome.state for outcome in study.outcomes] == ["done", "failed"] * 3
    assert verdict.best.state == "done"


def test_defaults_that_fail(study, invented):
    def evaluate_many(tasks):
        return [replace(outcome, state="failed", error="too few pairs") for outcome in invented(tasks)]

    with pytest.raises(
        AlignmentError,
        match="the trial of the default settings failed, so there is nothing to compare with: too few pairs",
    ):
        search(study, Budget(trials=6), evaluate_many)
    assert study.outcomes == []


def test_in_earnest(collected, study):
    heard = []
    evaluate_many = one_after_another(collected("ridge"), watcher=lambda *told: heard.append(told))
    verdict = search(study, Budget(trials=5), evaluate_many)
    assert len({outcome.mrr for outcome in study.outcomes}) > 1
    assert len(verdict.default.ranks) == 80


def test_rapo(collected, tmp_path):
    given = {"epochs": "2", "batch": "16", "start": "random"}
    study = Study(tmp_path / "study.journal", Space.of("rapo", given), kind="random", rng_seed=0)
    heard = []
    evaluate_many = one_after_another(collected("rapo", given), watcher=lambda *told: heard.append(told))
    verdict = search(study, Budget(trials=2), evaluate_many)
    assert all(len(outcome.epochs) == 3 for outcome in study.outcomes)
    assert heard[0][0].startswith("trial 0: ")
    assert verdict.default.settings["hard"] == "64"
