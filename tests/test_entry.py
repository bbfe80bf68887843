import math

from bilex import Entry
from bilex.entry import put_first

FOUND = [Entry("a", "x", 0.9, 1), Entry("a", "y", 0.5, 2), Entry("b", "y", 0.4, 1), Entry("c", "z", 0.2, 1)]


def given(*pairs):
    return [Entry(*pair, origin="given") for pair in pairs]


def lines(entries):
    return [(entry.source, entry.target, entry.rank, entry.origin) for entry in entries]


def test_right_ones_come_first_and_keep_their_scores():
    made = put_first(FOUND, given(("a", "y"), ("b", "q")), n=2)
    assert lines(made) == [
        ("a", "y", 1, "given"),
        ("a", "x", 2, "found"),
        ("b", "q", 1, "given"),
        ("b", "y", 2, "found"),
        ("c", "z", 1, "found"),
    ]
    assert [entry.score for entry in made if not math.isnan(entry.score)] == [0.5, 0.9, 0.4, 0.2]


def test_all_right_ones_stay_and_found_ones_fill_up():
    made = put_first(FOUND, given(("a", "p"), ("a", "q"), ("a", "y")), n=1)
    assert [entry.target for entry in made if entry.source == "a"] == ["p", "q", "y"]
    made = put_first(FOUND, given(("a", "p"), ("a", "q")), n=3)
    assert [entry.target for entry in made if entry.source == "a"] == ["p", "q", "x"]


def test_refused_ones_go_also_if_they_were_given():
    with_given = put_first(FOUND, given(("a", "x"), ("a", "y")), n=1)
    made = put_first(
        with_given, [Entry("b", "r", origin="accepted")], n=1, refused={("a", "x"), ("b", "y"), ("c", "z")}
    )
    assert lines(made) == [("a", "y", 1, "given"), ("b", "r", 1, "accepted")]


def test_sources_that_were_not_found_come_last():
    assert lines(put_first(FOUND, given(("new", "n")), n=1))[-1] == ("new", "n", 1, "given")
