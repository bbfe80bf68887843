import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from bilex import Lexicon, LexiconError
from bilex.errors import ExplorerError
from bilex.run.corrections import Corrections
from bilex.run.decision import Decision
from bilex.run.decision_schema import APPLICATION_ID, SCHEMA_2


@pytest.fixture
def file(tmp_path):
    return tmp_path / "corrections.sqlite"


@pytest.fixture
def corrections(file):
    opened = Corrections(file)
    yield opened
    opened.close()


def test_decisions_and_what_is_exported(corrections):
    corrections.decide("a", "x", "accepted")
    corrections.decide("b", "y", "rejected", note="no")
    corrections.decide("c", "z", "corrected", target="right word")
    corrections.decide("d", "w", "accepted")
    corrections.decide("d", "w", "open")
    corrections.decide("a", "second", "accepted")
    assert corrections.lexicon().pairs == (("a", "x"), ("c", "right word"), ("a", "second"))
    assert corrections.counts() == {"accepted": 2, "rejected": 1, "corrected": 1}
    assert corrections.current()["b", "y"].note == "no"


def test_with_what_was_trained_on(corrections):
    train = Lexicon.from_pairs([("a", "x"), ("b", "y"), ("c", "z"), ("e", "v")])
    corrections.decide("a", "x", "accepted")
    corrections.decide("b", "y", "rejected")
    corrections.decide("c", "z", "corrected", target="q")
    corrections.decide("f", "u", "accepted")
    assert corrections.lexicon(train).pairs == (("a", "x"), ("e", "v"), ("c", "q"), ("f", "u"))


def test_a_later_decision_counts_and_its_note_stays(corrections):
    corrections.decide("a", "x", "rejected", note="why")
    corrections.decide("a", "x", "accepted")
    assert corrections.current()["a", "x"][:5] == ("a", "x", "accepted", ("x",), "why")
    corrections.decide("a", "x", "accepted", note="")
    assert corrections.current()["a", "x"].note == ""


def test_several_translations_of_one_suggestion(corrections, file):
    corrections.decide("to", "de", "corrected", target=["vers", "chez", "vers"])
    assert corrections.current()["to", "de"].targets == ("vers", "chez")
    assert corrections.lexicon().pairs == (("to", "vers"), ("to", "chez"))
    assert corrections.judged() == ([("to", "vers"), ("to", "chez")], {("to", "de")})
    assert corrections.counts()["corrected"] == 1
    other = Corrections(file)
    assert other.current() == corrections.current()
    other.close()
    corrections.decide("to", "de", "corrected", note="both")
    assert corrections.current()["to", "de"].targets == ("vers", "chez"), "a note alone changes no word"
    corrections.undo()
    corrections.undo()
    assert corrections.current() == {}, "one entry, one step back"


def test_the_suggestion_stays_right_beside_others(corrections):
    corrections.decide("to", "de", "corrected", target=["vers", "de"])
    assert corrections.judged() == ([("to", "vers"), ("to", "de")], set())


@pytest.fixture(params=[1, 2])
def old(file, request):
    """A file of an earlier version, with a correction, a note, and a rejection that was taken back."""
    with closing(sqlite3.connect(file, isolation_level=None)) as made:
        made.executescript(f"PRAGMA journal_mode = WAL; PRAGMA application_id = {APPLICATION_ID}; {SCHEMA_2}")
        made.execute(f"PRAGMA user_version = {request.param}")
        made.executemany(
            "INSERT INTO decisions (source, suggestion, verdict, target, note, undone) VALUES (?, ?, ?, ?, ?, ?)",
            [("a", "x", "corrected", "vers, chez", "rare", 0), ("b", "y", "rejected", None, "", 1)],
        )
    return file


class TestEarlierVersions:
    def test_nothing_is_lost(self, old):
        opened = Corrections(old)
        decision = opened.current()["a", "x"]
        assert (decision.targets, decision.note) == (("vers, chez",), "rare"), "what was entered is not taken apart"
        assert (decision.reviewer, decision.mark, decision.merged) == ("", "", False)
        assert decision.made.endswith("Z")
        assert ("b", "y") not in opened.current()
        opened.decide("b", "y", "corrected", target=["p", "q"])
        assert opened.lexicon().pairs == (("a", "vers, chez"), ("b", "p"), ("b", "q"))
        for _ in range(2):
            opened.undo()
        assert opened.current() == {}, "also what an earlier version has decided can be taken back"
        opened.close()
        assert sqlite3.connect(old).execute("PRAGMA user_version").fetchone() == (3,)

    def test_where_nothing_can_be_written(self, old, monkeypatch):
        before = old.read_bytes()
        monkeypatch.setattr("os.access", lambda *_: False)
        opened = Corrections(old, reading=True)
        assert opened.judged() == ([("a", "vers, chez")], {("a", "x")})
        assert [decision.note for decision in opened.of_reviewers()] == ["rare"]
        opened.close()
        assert old.read_bytes() == before

    def test_an_upgrade_that_is_interrupted_changes_nothing(self, old):
        with closing(sqlite3.connect(old, isolation_level=None)) as broken:
            broken.execute("ALTER TABLE decisions ADD COLUMN step TEXT")
        with pytest.raises(ExplorerError, match="step"):
            Corrections(old)
        with closing(sqlite3.connect(old)) as file:
            assert file.execute("PRAGMA user_version").fetchone()[0] < 3
            assert "reviewer" not in [row[1] for row in file.execute("PRAGMA table_info(decisions)")]

    def test_two_programs_upgrade_at_once(self, old):
        threads = [threading.Thread(target=lambda: Corrections(old).close()) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        opened = Corrections(old)
        assert list(opened.current()) == [("a", "x")]
        opened.close()


def test_many_decisions_are_one_step(corrections, file):
    corrections.decide("a", "x", "rejected")
    corrections.decide_all(Decision(word, "x", "accepted", ("x",), reviewer="anna") for word in "abc")
    assert corrections.counts() == {"accepted": 3, "rejected": 0, "corrected": 0}
    other = Corrections(file)
    assert other.current() == corrections.current()
    assert {decision.source for decision in corrections.undo()} == set("abc")
    assert [decision.verdict for decision in corrections.current().values()] == ["rejected"]
    assert other.current() == corrections.current()
    assert [decision.source for decision in corrections.undo()] == ["a"]
    other.close()


def test_many_decisions_are_stored_all_or_none(corrections):
    bad = [Decision("a", "x", "accepted", ("x",)), Decision("b\tc", "x", "accepted", ("x",))]
    with pytest.raises(LexiconError):
        corrections.decide_all(bad)
    assert corrections.current() == {}


def test_reviewers_and_marks(file):
    corrections = Corrections(file, reviewer="anna")
    corrections.decide("a", "x", "open", mark="skipped")
    corrections.decide("b", "y", "accepted", reviewer="ben")
    corrections.decide("a", "x", "accepted")
    decisions = corrections.current()
    assert [decisions["a", "x"][i] for i in (2, 5, 6)] == ["accepted", "skipped", "anna"]
    assert decisions["b", "y"].reviewer == "ben"
    assert [decision.source for decision in corrections.undo("ben")] == ["b"], "everybody takes back their own"
    assert corrections.undo("ben") == []
    with pytest.raises(LexiconError, match="name of a reviewer"):
        corrections.decide("c", "z", "accepted", reviewer="r" * 101)
    corrections.close()


def test_changes_are_told_once(corrections, file):
    corrections.decide("a", "x", "accepted")
    changed, place = corrections.changed_since(0)
    assert (changed, place) == ([("a", "x")], 1)
    other = Corrections(file)
    other.decide("b", "y", "rejected")
    other.undo()
    other.close()
    changed, place = corrections.changed_since(place)
    assert set(changed) == {("b", "y")}
    assert corrections.changed_since(place) == ([], place)
    assert ("b", "y") not in corrections.current()


def test_the_order_is_that_of_the_valid_decisions(corrections, file):
    for source in "abc":
        corrections.decide(source, "x", "accepted")
    corrections.current()
    corrections.decide("a", "x", "rejected")
    corrections.current()
    corrections.undo()
    other = Corrections(file)
    for each in (corrections, other):
        assert [decision.pair for decision in each.in_order()] == [("a", "x"), ("b", "x"), ("c", "x")]
    other.close()


def test_a_copy_is_complete(corrections, tmp_path):
    corrections.decide("a", "x", "accepted", note="why", reviewer="anna")
    corrections.copy_to(tmp_path / "copy.sqlite")
    copied = Corrections(tmp_path / "copy.sqlite")
    assert copied.current() == corrections.current()
    copied.close()


def test_an_index_that_lacks_decisions_is_refused(file):
    """The last decision of each pair is found by it."""

    def decide(source):
        opened = Corrections(file)
        opened.decide(source, "x", "accepted")
        opened.close()
        with closing(sqlite3.connect(file, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
            page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'decisions_by_pair'").fetchone()[0]
            size = database.execute("PRAGMA page_size").fetchone()[0]
        return slice((page - 1) * size, page * size)

    index = decide("a")
    before = file.read_bytes()[index]
    decide("b")
    data = bytearray(file.read_bytes())
    data[index] = before
    file.write_bytes(data)
    with pytest.raises(ExplorerError, match=r"damaged \(.*decisions_by_pair.*\); put back a copy"):
        Corrections(file)


class TestReading:
    def test_only_what_is_there(self, file):
        with pytest.raises(ExplorerError, match="there are no corrections yet"):
            Corrections(file, reading=True)
        assert not file.exists()

    @pytest.mark.parametrize("working", [False, True], ids=["at rest", "while a program works there"])
    def test_where_nothing_can_be_written(self, file, corrections, monkeypatch, working):
        corrections.decide("a", "x", "accepted")
        if not working:
            corrections.close()
        before = {path.name: path.read_bytes() for path in file.parent.iterdir()}
        with monkeypatch.context() as patch:
            patch.setattr("os.access", lambda *_: False)
            opened = Corrections(file, reading=True)
            assert opened.judged() == ([("a", "x")], set())
            with pytest.raises(ExplorerError, match="cannot be saved there"):
                opened.decide("b", "y", "rejected")
            opened.close()
        assert {path.name for path in file.parent.iterdir()} == set(before)
        assert file.read_bytes() == before[file.name]


def test_who_reads_does_not_wait_for_who_writes(corrections, file):
    corrections.decide("a", "x", "accepted")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")  # without a write-ahead log readers would have to wait for it
    deciding = threading.Thread(target=corrections.decide, args=("b", "y", "rejected"))
    deciding.start()
    assert set(corrections.current()) == {("a", "x")}
    other.execute("ROLLBACK")
    other.close()
    deciding.join()
    assert set(corrections.current()) == {("a", "x"), ("b", "y")}


def test_undo_goes_back_step_by_step(corrections):
    corrections.decide("a", "x", "rejected")
    corrections.decide("a", "x", "accepted")
    assert [undone.verdict for undone in corrections.undo()] == ["accepted"]
    assert corrections.current()["a", "x"].verdict == "rejected"
    corrections.undo()
    assert corrections.current() == {}
    assert corrections.undo() == []


def test_two_programs_see_each_other(corrections, file):
    other = Corrections(file)
    corrections.decide("a", "x", "accepted")
    assert ("a", "x") in other.current()
    other.undo()
    assert corrections.current() == {}
    other.close()


def test_a_decision_outlives_a_killed_program(file):
    code = (
        "import os, signal, sys, pathlib; from bilex.run.corrections import Corrections\n"
        "c = Corrections(pathlib.Path(sys.argv[1])); c.decide('a', 'x', 'accepted')\n"
        "c.decide('b', 'y', 'corrected', target='ÿ'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, file], check=False).returncode < 0
    opened = Corrections(file)
    assert opened.lexicon().pairs == (("a", "x"), ("b", "ÿ"))
    opened.close()


@pytest.mark.parametrize(
    "bad",
    [
        {"source": ""},
        {"suggestion": "a\tb"},
        {"target": "a\nb", "verdict": "corrected"},
        {"target": " a", "verdict": "corrected"},
        {"target": "a" * 201, "verdict": "corrected"},
        {"target": "\ud800", "verdict": "corrected"},
        {"target": "x", "verdict": "corrected"},
        {"verdict": "corrected"},
        {"note": "n" * 2001},
    ],
    ids=str,
)
def test_what_cannot_stand_in_a_dictionary_is_refused(corrections, bad):
    fields = {"source": "a", "suggestion": "x", "verdict": "accepted", "target": None, "note": None} | bad
    with pytest.raises(LexiconError):
        corrections.decide(
            fields["source"], fields["suggestion"], fields["verdict"], target=fields["target"], note=fields["note"]
        )
    assert corrections.current() == {}


def test_files_of_others_are_left_alone(file):
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(ExplorerError, match="none that this version of bilex explore has made"):
        Corrections(file)
    assert not list(file.parent.glob("*-wal"))


def test_no_sqlite_at_all(file):
    file.write_text("a\tb\n" * 1000)
    with pytest.raises(ExplorerError, match="name a file for them in a folder that can be written to"):
        Corrections(file)
    assert file.read_text() == "a\tb\n" * 1000


def test_no_folder(tmp_path):
    with pytest.raises(ExplorerError, match="name a file for them in a folder that can be written to"):
        Corrections(tmp_path / "none" / "corrections.sqlite")
