import openpyxl
import pytest

from bilex import Entry
from bilex.errors import LexiconError
from bilex.io.sheets.review_writer import write_review_sheet
from bilex.run.corrections import Corrections
from bilex.run.review import read_review, understand

PAIRS = [("the", "le"), ("dog", "chien"), ("cat", "chat"), ("year", "an"), ("no", "non"), ("ox", "bœuf")]


@pytest.fixture
def corrections(tmp_path):
    made = Corrections(tmp_path / "corrections.sqlite")
    yield made
    made.close()


@pytest.fixture
def edited(tmp_path):
    """A sheet as it is written, in which a person has filled decisions and notes by source word."""

    def edited(decisions, notes=None):
        write_review_sheet(tmp_path / "l.xlsx", [Entry(s, t, 0.5, 1) for s, t in PAIRS], {})
        book = openpyxl.load_workbook(tmp_path / "l.xlsx")
        columns = {cell.value: cell.column for cell in book.active[1]}
        for row in book.active.iter_rows(min_row=2):
            for name, values in (("decision", decisions), ("note", notes or {})):
                if row[0].value in values:
                    book.active.cell(row[0].row, columns[name]).value = values[row[0].value]
        book.save(tmp_path / "review.xlsx")
        return tmp_path / "review.xlsx"

    return edited


@pytest.mark.parametrize("text", ["accept", "Accepted", " ok ", "yes", "Y", "TRUE", "1", "+", "✓", "chien", "“chien”"])
def test_accepting(text):
    assert understand(text, "chien") == ("accepted", ("chien",))


@pytest.mark.parametrize("text", ["reject", "REJECTED", "no", "n", "false", "0", "-", "✗"])
def test_rejecting(text):
    assert understand(text, "chien") == ("rejected", ())


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("cabot", ("cabot",)),
        ("cabot; chien", ("cabot", "chien")),
        ("cabot, toutou (fam.)", ("cabot", "toutou")),
        ("gros chien", ("gros chien",)),
        ('"no"', ("no",)),
        ("«x»", ("x",)),
        ("'a; b'", ("a; b",)),
    ],
)
def test_correcting(text, targets):
    assert understand(text, "chien") == ("corrected", targets)


@pytest.mark.parametrize("text", ["?", "x", "...", "()", '""', "X"])
def test_what_is_not_understood(text):
    with pytest.raises(LexiconError, match="needed accept, reject, or the right translation"):
        understand(text, "chien")


def test_round_trip(edited, corrections):
    sheet = edited({"the": "accept", "dog": "reject", "cat": "chatte; minou", "ox": "?"}, {"dog": "really?"})
    review = read_review(sheet, corrections)
    assert review.counts() == {"accepted": 1, "rejected": 1, "corrected": 1}
    assert (review.known, review.undecided) == (0, 2)
    assert list(map(str, review.problems)) == [
        "row 7 ('ox' - 'bœuf'): found '?'; needed accept, reject, or the right translation"
    ]
    assert corrections.current() == {}
    assert corrections.decide_all(review.decisions) == 3
    right, refused = corrections.judged()
    assert right == [("the", "le"), ("cat", "chatte"), ("cat", "minou")]
    assert refused == {("dog", "chien"), ("cat", "chat")}
    assert corrections.current()["dog", "chien"].note == "really?"


def test_importing_again_changes_nothing_and_a_change_is_one_decision(edited, corrections):
    corrections.decide_all(read_review(edited({"the": "accept", "cat": "chatte; minou"}), corrections).decisions)
    again = read_review(edited({"the": "ok", "cat": "minou; chatte"}), corrections)
    assert (again.decisions, again.known) == ((), 2)
    changed = read_review(edited({"the": "reject", "cat": "minou; chatte"}), corrections)
    assert [decision[:3] for decision in changed.decisions] == [("the", "le", "rejected")]


def test_reviewers_decide_for_themselves(edited, corrections, tmp_path):
    """What somebody else has decided before is a decision of its own."""
    corrections.decide("the", "le", "accepted", reviewer="Ada", mark="multiword")
    sheet = edited({"the": "accept"})
    corrections.reviewer = "Bob"
    (decision,) = read_review(sheet, corrections).decisions
    assert (decision.reviewer, decision.mark) == ("Bob", "multiword")
    corrections.decide_all([decision])
    assert read_review(sheet, corrections).known == 1
    assert [made.reviewer for made in corrections.of_reviewers()] == ["Ada", "Bob"]


def test_a_note_that_was_made_before_stays(edited, corrections):
    corrections.decide("the", "le", "rejected", note="why?")
    corrections.decide_all(read_review(edited({"the": "accept"}), corrections).decisions)
    assert corrections.current()["the", "le"].note == "why?"
    assert corrections.current()["the", "le"].verdict == "accepted"


def test_rows_that_cannot_be_stored_are_named(tmp_path, corrections):
    lines = ["source,target,decision", "a,b,ok", "a,b,no", ",b,ok", "c,,ok", f"d,{'x' * 300},ok", "e,f,", "g,h,2"]
    lines += ["2nd,h,2"]
    (tmp_path / "review.csv").write_text("\n".join(lines))
    review = read_review(tmp_path / "review.csv", corrections)
    assert [(problem.row, problem.why) for problem in review.problems] == [
        (3, "another row decides on the same pair"),
        (4, "a decision needs a source and a target word in its row"),
        (5, "a decision needs a source and a target word in its row"),
        (6, "found a word of 300 characters; at most 200 can be stored"),
        (8, "found '2'; write the translation itself, no number of an alternative"),
    ]
    assert [decision[:3] for decision in review.decisions] == [("a", "b", "accepted"), ("2nd", "h", "corrected")]
    assert review.undecided == 1
    corrections.decide_all(review.decisions)
    again = read_review(tmp_path / "review.csv", corrections)
    assert (again.decisions, again.known, again.problems) == ((), 2, review.problems)


def test_a_sheet_of_something_else(tmp_path, corrections):
    (tmp_path / "d.csv").write_text("source,target\na,b\n")
    with pytest.raises(LexiconError, match=r"d\.csv: found no row with the headings source, target, decision"):
        read_review(tmp_path / "d.csv", corrections)


def test_all_or_none_is_stored(corrections):
    from bilex.run.decision import Decision

    with pytest.raises(LexiconError, match="cannot be written"):
        corrections.decide_all([Decision("a", "b", "accepted", ("b",)), Decision("a\tb", "c", "rejected")])
    assert corrections.current() == {}
