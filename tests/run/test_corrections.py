import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from bilex import Lexicon, LexiconError
from bilex.errors import ExplorerError
from bilex.run.corrections import Corrections


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
    assert corrections.current()["a", "x"]._asdict() == {
        "source": "a", "suggestion": "x", "verdict": "accepted", "targets": ("x",), "note": "why"
    }  # fmt: skip
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


def test_a_file_of_the_first_version(corrections, file):
    corrections.decide("a", "x", "corrected", target="vers, chez")
    corrections.close()
    old = sqlite3.connect(file)
    old.execute("PRAGMA user_version = 1")
    old.close()
    opened = Corrections(file)
    assert opened.current()["a", "x"].targets == ("vers, chez",), "what one person has entered is not taken apart later"
    opened.decide("b", "y", "corrected", target=["p", "q"])
    assert opened.lexicon().pairs == (("a", "vers, chez"), ("b", "p"), ("b", "q"))
    opened.close()
    assert sqlite3.connect(file).execute("PRAGMA user_version").fetchone() == (2,)


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
    other.execute("BEGIN IMMEDIATE")
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
    assert corrections.undo().verdict == "accepted"
    assert corrections.current()["a", "x"].verdict == "rejected"
    corrections.undo()
    assert corrections.current() == {}
    assert corrections.undo() is None


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
