"""The columns of a review follow the decisions, whoever makes them."""

from contextlib import closing

import numpy as np
import pytest

from bilex.explorer.review import Review
from bilex.run.corrections import Corrections

WORDS = ["a", "b", "c", "d"]


@pytest.fixture
def corrections(tmp_path):
    with closing(Corrections(tmp_path / "c.sqlite", reviewer="anna")) as opened:
        yield opened


@pytest.fixture
def review(corrections):
    return Review(
        corrections,
        {word: row for row, word in enumerate(WORDS)},
        lambda row: [f"t{row}", "given"] if row == 3 else [f"t{row}"],
    )


def rows(mask):
    return np.flatnonzero(mask).tolist()


def test_statuses(review, corrections):
    review.decide("a", "accepted")
    review.decide("b", "corrected", ["t1", "x"])
    review.decide("c", "open", mark="name")
    statuses = {
        status: rows(review.with_status(status)) for status in ("open", "accepted", "corrected", "aside", "decided")
    }
    assert statuses == {"open": [3], "accepted": [0], "corrected": [1], "aside": [2], "decided": [0, 1]}
    assert rows(review.with_mark("name")) == [2]
    assert review.state("b").targets == ("t1", "x")
    assert review.state("b").reviewer == "anna"
    corrections.undo()
    assert rows(review.with_status("open")) == [2, 3]


def test_marks_and_verdicts_do_not_change_each_other(review):
    review.decide("a", "accepted", note="why")
    assert review.decide("a", "accepted", mark="multiword")[:4] == ("accepted", ("t0",), "multiword", "why")
    assert review.decide("a", "rejected")[:4] == ("rejected", (), "multiword", "why")


def test_decisions_on_other_pairs_of_the_word_count(review, corrections):
    corrections.decide("a", "other", "accepted")
    assert review.state("a")[:2] == ("corrected", ("other",))
    assert rows(review.with_status("corrected")) == [0]
    # A decision about the whole entry says all that is right, in one step.
    assert review.decide("a", "corrected", ["t0", "other"]).targets == ("t0", "other")
    assert corrections.judged() == ([("a", "t0"), ("a", "other")], set())
    assert review.decide("a", "accepted").targets == ("t0",)
    corrections.undo()
    corrections.undo()
    assert review.state("a")[:2] == ("corrected", ("other",))


def test_a_rejection_is_of_all_that_the_lexicon_has(review, corrections):
    review.decide("d", "rejected")
    assert corrections.judged() == ([], {("d", "t3"), ("d", "given")})
    review.decide("d", "open")
    assert corrections.judged() == ([], set())
    corrections.decide("d", "given", "rejected")
    review.decide("d", "accepted")
    assert corrections.judged() == ([("d", "t3")], {("d", "given")}), "what was rejected by itself stays so"


def test_a_rejection_is_of_what_was_shown_too(review, corrections):
    review.decide("a", "rejected", shown=["t0", "x", "y"])
    assert corrections.judged() == ([], {("a", "t0"), ("a", "x"), ("a", "y")})
    review.decide("a", "corrected", ["x"], shown=["t0", "x", "y"])
    assert corrections.judged() == ([("a", "x")], {("a", "t0")})


def test_words_are_counted_not_pairs(review, corrections):
    review.decide("a", "rejected", shown=["x", "y"])
    review.decide("d", "accepted")
    corrections.decide("a", "z", "accepted")
    corrections.decide("elsewhere", "x", "corrected", target="y")
    assert review.counts() == {"accepted": 2, "rejected": 1, "corrected": 1}
    review.decide("a", "open", shown=["x", "y"])
    assert review.counts() == {"accepted": 1, "rejected": 0, "corrected": 1}
    corrections.undo()
    assert review.counts() == {"accepted": 2, "rejected": 1, "corrected": 1}


def test_many_are_one_step(review, corrections):
    review.decide("a", "open", note="why")
    assert review.accept([0, 2], WORDS) == 2
    assert review.state("a").note == "why"
    assert rows(review.with_status("accepted")) == [0, 2]
    corrections.undo()
    assert rows(review.with_status("accepted")) == []


def test_words_of_other_tables_are_left_alone(review, corrections):
    corrections.decide("elsewhere", "x", "accepted")
    assert rows(review.with_status("open")) == [0, 1, 2, 3]
