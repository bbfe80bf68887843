from dataclasses import replace

import pytest

from bilex.errors import AlignmentError
from bilex.tune.space import Space
from bilex.tune.study import JOURNAL, MIN_TRIALS_TO_PRUNE, STARTUP_TRIALS, Study, opened
from bilex.tune.trial import Outcome


@pytest.fixture
def study(tmp_path):
    """Open the same study again and again, or another."""

    def make(name="ridge", *, kind="tpe", rng_seed=0, file="study.journal"):
        return Study(tmp_path / file, Space.of(name, {}), kind=kind, rng_seed=rng_seed)

    return make


def advance(study, evaluate, trials, batch=1):
    while len(study.outcomes) < trials and (tasks := study.ask(batch)):
        for outcome in evaluate(tasks):
            study.tell(outcome)
    return [outcome.settings for outcome in study.outcomes]


def test_the_defaults_come_first(study):
    (task,) = study().ask(1)
    assert (task.number, task.settings, task.pruning_thresholds) == (0, {"penalty": "100"}, ())


@pytest.mark.parametrize("kind", ["tpe", "random"])
def test_the_same_seed_gives_the_same_trials(study, invented, kind):
    trials = STARTUP_TRIALS + 4
    one, same, other = (
        advance(study(kind=kind, rng_seed=rng_seed, file=file), invented, trials)
        for file, rng_seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert one == same
    assert one[0] == other[0]
    assert not any(settings in one for settings in other[1:])


def test_what_was_told_is_there_again(study, invented):
    first = study()
    advance(first, invented, 3)
    assert study().outcomes == first.outcomes


def test_a_power_cut_changes_nothing(study, invented, tmp_path):
    """Whatever has reached the file, half a line included, the search ends with the same trials."""
    expected = advance(study(file="whole"), invented, 4)
    contents = (tmp_path / "whole").read_bytes()
    lines = contents.splitlines(keepends=True)
    for number in range(len(lines)):
        torn = b"".join(lines[:number]) + lines[number][: len(lines[number]) // 2]
        (tmp_path / "torn").write_bytes(torn)
        again = study(file="torn")
        assert [outcome.settings for outcome in again.outcomes] == expected[: len(again.outcomes)]
        assert advance(again, invented, 4) == expected


@pytest.mark.filterwarnings("ignore:.*lock file")  # of some releases of Optuna
def test_a_lock_that_was_left_is_not_for_ever(study, invented, tmp_path, monkeypatch):
    advance(study(), invented, 1)
    (tmp_path / "study.journal.lock").touch()
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert len(advance(study(), invented, 2)) == 2


@pytest.mark.parametrize("damage", [b"garbage\n", b'{"op_code": 99}\n', b"\xff\xfe\n", b'{"op_code": 6}\n'])
def test_damage_is_refused(study, invented, tmp_path, damage):
    advance(study(), invented, 2)
    with (tmp_path / "study.journal").open("ab") as file:
        file.write(damage)
    with pytest.raises(AlignmentError, match=f"cannot be read: .*; remove {tmp_path} and search again"):
        study()


def test_a_disk_that_fails_is_no_damage(study, monkeypatch):
    def fail(*_):
        raise PermissionError(13, "Permission denied", "study.journal")

    monkeypatch.setattr("bilex.tune.study._remove_incomplete_line", fail)
    with pytest.raises(PermissionError):
        study()


def test_nothing_is_tried_twice_and_a_small_space_comes_to_an_end(study, invented):
    tried = advance(study("vecmap"), invented, 100)
    assert len(tried) == 9
    assert len({tuple(settings.items()) for settings in tried}) == 9


def test_batches(study, invented):
    made = study("vecmap")
    tried = advance(made, invented, 100, batch=4)
    assert len({tuple(settings.items()) for settings in tried}) == 9
    assert sorted(outcome.number for outcome in made.outcomes) == list(range(9))


class TestBars:
    def outcomes(self, study, *epochs, state="done"):
        for values in epochs:
            (task,) = study.ask(1)
            made = Outcome(number=task.number, settings=task.settings, state=state, seconds=1.0, epochs=values)
            study.tell(replace(made, mrr=values[-1], ranks=(1,)) if state == "done" else made)

    def test_the_median_of_the_best_so_far(self, study):
        one = study()
        self.outcomes(one, (0.1, 0.5, 0.4), (0.2, 0.1), (0.3, 0.3, 0.9))
        assert one.ask(1)[0].pruning_thresholds == ()
        self.outcomes(one, (0.4, 0.6, 0.6), (0.5, 0.2, 0.7))
        assert len(one.outcomes) >= MIN_TRIALS_TO_PRUNE
        assert one.ask(1)[0].pruning_thresholds == (0.3, 0.5, 0.6)

    def test_trials_that_were_ended_count_as_far_as_they_came(self, study):
        one = study()
        self.outcomes(one, *[(0.1, 0.5)] * 2)
        self.outcomes(one, *[(0.1,)] * 3, state="stopped")
        assert one.ask(1)[0].pruning_thresholds == (0.1, 0.5)
        assert [outcome.state for outcome in study().outcomes] == ["done"] * 2 + ["stopped"] * 3

    def test_none_for_a_random_search(self, study):
        one = study(kind="random")
        self.outcomes(one, *[(0.1, 0.5)] * 6)
        assert one.ask(1)[0].pruning_thresholds == ()


def test_two_searches_in_one_folder(study, invented):
    one = study()
    tasks = one.ask(1)
    study()  # takes what is running for interrupted
    with pytest.raises(AlignmentError, match="changed by another search"):
        one.tell(next(invented(tasks)))


class TestFolder:
    def test_other_inputs_are_refused(self, collected, invented, tmp_path):
        folder, inputs, space = tmp_path / "new", collected("ridge"), Space.of("ridge", {})
        with opened(folder, inputs, space, kind="tpe") as study:
            advance(study, invented, 2)
        with opened(folder, inputs, space, kind="tpe") as study:
            assert len(study.outcomes) == 2
        for other, kind, what in ((inputs, "random", "search"), (replace(inputs, rng_seed=1), "tpe", "rng_seed")):
            with (
                pytest.raises(AlignmentError, match=f"was made with another `{what}`;"),
                opened(folder, other, space, kind=kind),
            ):
                pass

    def test_nothing_is_left_where_nothing_was_done(self, collected, tmp_path):
        with opened(tmp_path / "new", collected("ridge"), Space.of("ridge", {}), kind="tpe") as study:
            study.ask(1)
            assert (tmp_path / "new" / JOURNAL).exists()
        assert list(tmp_path.iterdir()) == []

    def test_what_others_have_put_there_stays(self, collected, tmp_path):
        with opened(tmp_path / "new", collected("ridge"), Space.of("ridge", {}), kind="tpe"):
            (tmp_path / "new" / "notes").write_text("precious")
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["notes"]

    def test_no_search_folder(self, collected, tmp_path):
        (tmp_path / "mine").write_text("precious")
        with (
            pytest.raises(AlignmentError, match="this is not a search folder"),
            opened(tmp_path, collected("ridge"), Space.of("ridge", {}), kind="tpe"),
        ):
            pass
        assert (tmp_path / "mine").exists()
