import math

import pytest

from bilex import Entry
from bilex.run.corrected import corrected
from bilex.run.corrections import Corrections

ENTRIES = [
    Entry("a", "x", 0.9, 1),
    Entry("a", "y", 0.5, 2),
    Entry("b", "y", 0.4, 1),
    Entry("b", "z", 0.3, 2),
    Entry("c", "z", 0.2, 1),
]


@pytest.fixture
def decided(tmp_path):
    opened = Corrections(tmp_path / "corrections.sqlite")
    yield opened
    opened.close()


def pairs(entries):
    return [(entry.source, entry.target, entry.rank) for entry in entries]


def test_nothing_decided_nothing_changed(decided):
    assert corrected(ENTRIES, decided, n=2) == ENTRIES
    decided.decide("a", "x", "open", note="why?")
    assert corrected(ENTRIES, decided, n=2) == ENTRIES


def test_right_ones_come_first_and_refused_ones_go(decided):
    decided.decide("a", "y", "accepted")
    decided.decide("b", "y", "rejected")
    decided.decide("c", "z", "corrected", target="q")
    decided.decide("new", "w", "accepted")
    made = corrected(ENTRIES, decided, n=2)
    assert pairs(made) == [("a", "y", 1), ("a", "x", 2), ("b", "z", 1), ("c", "q", 1), ("new", "w", 1)]
    assert [entry.score for entry in made[:3]] == [0.5, 0.9, 0.3]
    assert [entry.origin for entry in made] == ["accepted", "found", "found", "corrected", "accepted"]
    assert all(math.isnan(entry.score) for entry in made[3:])


def test_n_counts_induced_ones_only_after_right_ones(decided):
    for target in ("y", "p", "q"):
        decided.decide("a", target, "accepted")
    assert pairs(corrected(ENTRIES, decided, n=1))[:3] == [("a", "y", 1), ("a", "p", 2), ("a", "q", 3)]
    assert len(corrected(ENTRIES, decided, n=4)) == len(ENTRIES) + 2


def test_what_was_rejected_and_then_given_as_right_stays(decided):
    decided.decide("c", "z", "rejected")
    decided.decide("c", "q", "corrected", target="z")
    assert pairs(corrected(ENTRIES, decided, n=2))[-1] == ("c", "z", 1)


def test_a_word_with_nothing_left_has_no_line(decided):
    decided.decide("c", "z", "rejected")
    assert "c" not in {entry.source for entry in corrected(ENTRIES, decided, n=2)}


def test_decided_then_given_then_found(decided):
    entries = [
        Entry("a", target, 0.5, rank, "given" if rank < 4 else "found") for rank, target in enumerate("pqrstu", 1)
    ]
    decided.decide("a", "q", "accepted")
    decided.decide("a", "s", "corrected", target=["v", "w"])
    decided.decide("a", "p", "rejected")
    made = corrected(entries, decided, n=5)
    assert [(entry.target, entry.origin, entry.rank) for entry in made] == [
        ("q", "accepted", 1), ("v", "corrected", 2), ("w", "corrected", 3), ("r", "given", 4), ("t", "found", 5)
    ]  # fmt: skip
    assert [entry.target for entry in corrected(entries, decided, n=1)] == ["q", "v", "w", "r"], "all right ones stay"


def test_backward(decided):
    decided.decide("x", "a", "rejected")
    decided.decide("q", "c", "accepted")
    assert pairs(corrected(ENTRIES, decided, n=1, direction="backward")) == [
        ("a", "y", 1),
        ("b", "y", 1),
        ("c", "q", 1),
    ]
