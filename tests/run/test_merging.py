"""Several people review the same lexicon, each in a file of their own."""

from contextlib import closing

import pytest

from bilex.run.corrections import Corrections
from bilex.run.decision import Decision
from bilex.run.merging import agreements, conflicts, merge, reviewer_counts


@pytest.fixture
def files(tmp_path):
    """Two files of decisions, of Anna and of somebody who has given no name."""
    with (
        closing(Corrections(tmp_path / "anna.sqlite", reviewer="anna")) as anna,
        closing(Corrections(tmp_path / "ben.sqlite")) as ben,
    ):
        anna.decide("a", "x", "accepted")
        anna.decide("b", "y", "accepted")
        ben.decide("a", "x", "accepted")
        ben.decide("b", "y", "rejected", note="never")
        ben.decide("c", "z", "corrected", target="q")
        yield anna, ben


def test_what_was_decided_here_stays_and_the_rest_is_added(files):
    anna, ben = files
    assert merge(anna, ben, "ben") == (3, 0)
    now = anna.current()
    assert [(d.source, d.verdict, d.reviewer) for d in anna.in_order()] == [
        ("a", "accepted", "anna"), ("b", "accepted", "anna"), ("c", "corrected", "ben")
    ]  # fmt: skip
    assert now["c", "z"].made == ben.current()["c", "z"].made, "the time is that of the decision"
    assert anna.lexicon().pairs == (("a", "x"), ("b", "y"), ("c", "q"))
    assert merge(anna, ben, "ben") == (0, 3), "merging twice adds nothing"
    assert merge(ben, anna, "anna") == (2, 3), "nor does merging back"


def test_decisions_of_two_people_in_the_same_instant_are_two(tmp_path):
    now = "2026-01-02T03:04:05.678Z"
    with closing(Corrections(tmp_path / "a.sqlite", reviewer="a")) as one, closing(Corrections(tmp_path / "b")) as two:
        for file, name in ((one, "a"), (two, "")):
            file.decide_all([Decision("x", "y", "accepted", ("y",), reviewer=name, made=now)])
        assert merge(one, two, "b") == (1, 0)
        assert merge(one, two, "another name") == (0, 1), "it is known from the first merge"
        assert merge(two, one, "a") == (1, 1)
        assert [decision.reviewer for decision in one.of_reviewers()] == ["a", "b"]


def test_a_merge_is_one_step(files):
    anna, ben = files
    before = anna.current()
    merge(anna, ben, "ben")
    assert len(anna.undo()) == 3
    assert anna.current() == before


def test_conflicts_until_somebody_decides(files):
    anna, ben = files
    merge(anna, ben, "ben")
    (found,) = conflicts(anna.of_reviewers())
    assert (found.source, found.suggestion) == ("b", "y")
    assert [(d.reviewer, d.verdict, d.note) for d in found.decisions] == [
        ("anna", "accepted", ""), ("ben", "rejected", "never")
    ]  # fmt: skip
    anna.decide("b", "y", "rejected")
    assert conflicts(anna.of_reviewers()) == []
    anna.undo()
    assert len(conflicts(anna.of_reviewers())) == 1


def test_other_translations_are_a_conflict_in_any_order_they_are_none(tmp_path):
    with closing(Corrections(tmp_path / "a.sqlite")) as one, closing(Corrections(tmp_path / "b.sqlite")) as two:
        one.decide("a", "x", "corrected", target=["p", "q"])
        two.decide("a", "x", "corrected", target=["q", "p"])
        one.decide("b", "y", "corrected", target="p")
        two.decide("b", "y", "corrected", target="q")
        merge(one, two, "two")
        assert [conflict.source for conflict in conflicts(one.of_reviewers())] == ["b"]


def test_agreement_is_that_of_cohen(tmp_path):
    """Compared with the formula, and with the example of 50 pairs that textbooks give: κ = 0.4."""
    with closing(Corrections(tmp_path / "a.sqlite", reviewer="a")) as one:
        verdicts = [("accepted", "accepted")] * 20 + [("accepted", "rejected")] * 5
        verdicts += [("rejected", "accepted")] * 10 + [("rejected", "rejected")] * 15
        for number, (first, second) in enumerate(verdicts):
            one.decide(f"s{number}", "x", first)
            one.decide(f"s{number}", "x", second, reviewer="b")
        (found,) = agreements(one.of_reviewers())
    assert (found.reviewers, found.words, found.same) == (("a", "b"), 50, 35)
    assert found.kappa == pytest.approx(0.4)


def test_a_word_of_which_several_pairs_were_judged_counts_once(tmp_path):
    with closing(Corrections(tmp_path / "a.sqlite", reviewer="a")) as one:
        for name in "ab":
            one.decide_all(Decision("s", target, "rejected", reviewer=name) for target in "xyz")
        one.decide("t", "x", "accepted")
        one.decide_all([Decision("t", "y", "accepted", ("y",), reviewer=name) for name in "ab"])
        one.decide("t", "x", "rejected", reviewer="b")
        decisions = one.of_reviewers()
    (found,) = agreements(decisions)
    assert (found.words, found.same) == (2, 1), "they accept t with other translations"
    assert found.kappa == 1
    counts = {name: dict(counts) for name, counts, _ in reviewer_counts(decisions)}
    assert counts == {"a": {"rejected": 1, "accepted": 1}, "b": {"rejected": 2, "accepted": 1}}


def test_agreement_without_variety_has_no_kappa(files):
    anna, ben = files
    ben.undo()
    ben.undo()
    merge(anna, ben, "ben")
    (found,) = agreements(anna.of_reviewers())
    assert (found.words, found.same, found.kappa) == (1, 1, None)


def test_who_has_decided_what(files):
    anna, ben = files
    merge(anna, ben, "ben")
    found = {name: dict(counts) for name, counts, _ in reviewer_counts(anna.of_reviewers())}
    assert found == {"anna": {"accepted": 2}, "ben": {"accepted": 1, "rejected": 1, "corrected": 1}}
