import pytest

from bilex.fitting.profile import PARTS, Profile, table
from bilex.training.trace import Trace


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def spend(clock, profile, part, seconds):
    with profile.timed(part):
        clock.now += seconds


def timed(clock, records):
    """2 s of imports, 3 of reading, 50 of training, 4 of evaluation, 1 of writing, 0.5 of all else."""
    profile = Profile(0.0, clock)
    clock.now += 2
    profile.imported()
    spend(clock, profile, "reading", 3)
    with profile.timed("training"):
        clock.now += 50
        heard = []
        trace = Trace(profile.listener(heard.append))
        for record in records:
            trace(**record)
        assert heard == records
    spend(clock, profile, "evaluation", 4)
    spend(clock, profile, "writing", 1)
    clock.now += 0.5
    return profile.seconds()


def test_the_stages_of_rapo(clock):
    found = timed(
        clock,
        [
            {"stage": "context", "seconds": 6.0},
            {"stage": "start", "seconds": 5.0},
            {"epoch": 0, "dev": 0.5, "refresh_seconds": 1.0},
            {"epoch": 1, "dev": 0.6, "train_seconds": 10.0, "refresh_seconds": 1.5},
            {"stage": "held out", "words": 30},
            {"stage": "refit", "epoch": 0, "refresh_seconds": 0.5},
            {"stage": "refit", "epoch": 1, "train_seconds": 12.0, "refresh_seconds": 0.0},
        ],
    )
    assert found == {
        "imports": 2.0,
        "reading": 3.0,
        "contexts": 6.0,
        "start": 5.0,
        "steps": 22.0,
        "refreshes": 3.0,
        "other_training": 14.0,
        "evaluation": 4.0,
        "writing": 1.0,
        "other": 0.5,
        "total": 60.5,
    }
    assert sum(found.values()) == 2 * found["total"]


def test_rounds_of_self_learning_are_added_up(clock):
    """Their records have the round too; a stage without a record is left out."""
    rounds = [
        {"round": number, "epoch": epoch, "train_seconds": 2.0, "refresh_seconds": 1.0}
        for number in range(3)
        for epoch in range(2)
    ]
    found = timed(clock, [{"round": 0, "stage": "context", "seconds": 4.0}, *rounds, {"round": 2, "kept_round": 1}])
    assert (found["contexts"], found["steps"], found["refreshes"]) == (4, 12, 6)
    assert found["other_training"] == 50 - 22
    assert not {"start", "training"} & found.keys()


@pytest.mark.parametrize("records", [[], [{"round": 1, "pairs": 100}, {"stage": "held_out", "p_at_1": 50.0}]])
def test_a_method_without_stages_has_only_its_training(clock, records):
    found = timed(clock, records)
    assert list(found) == ["imports", "reading", "training", "evaluation", "writing", "other", "total"]
    assert found["training"] == 50


def test_no_part_is_below_zero(clock):
    """The first record after --resume can have the seconds of an epoch that was trained before."""
    found = timed(clock, [{"epoch": 3, "train_seconds": 70.0, "refresh_seconds": 1.0}])
    assert found["other_training"] == 0
    assert min(found.values()) >= 0


def test_a_part_that_fails_is_counted(clock):
    profile = Profile(0.0, clock)

    def fail():
        clock.now += 2
        raise OSError("full")

    with pytest.raises(OSError, match="full"), profile.timed("writing"):
        fail()
    assert profile.seconds() == {"writing": 2.0, "other": 0.0, "total": 2.0}


def test_the_table():
    seconds = {"imports": 1.04, "steps": 1200.0, "other_training": 0.0, "total": 1201.04}
    assert table(seconds) == [
        "part            seconds  share",
        "imports             1.0    0 %",
        "steps           1,200.0  100 %",
        "other training      0.0    0 %",
        "total           1,201.0  100 %",
    ]
    assert set(seconds) <= set(PARTS)
    assert table({"total": 0.0})[1].split() == ["total", "0.0", "0", "%"]
