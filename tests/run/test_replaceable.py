import pytest

from bilex import Alignment, align
from bilex.errors import AlignmentError
from bilex.run.corrections import Corrections
from bilex.run.files import CORRECTIONS, DESCRIPTION
from bilex.run.replaceable import check_replaceable


@pytest.fixture
def run(alignment, tmp_path):
    alignment.save(tmp_path / "run")
    return tmp_path / "run"


def test_a_run_as_bilex_leaves_it(run):
    opened = Alignment.load(run)
    opened.induce()
    assert (run / "cache").is_dir()
    (run / "report.html").write_text("<html>")
    (run / ".DS_Store").write_text("of the system")
    check_replaceable(run)


@pytest.mark.parametrize("number", [1, 5])
def test_files_that_are_not_of_bilex_would_be_lost(run, number):
    for name in "abcde"[:number]:
        (run / f"{name}.txt").write_text("mine")
    shown = r"\(a.txt\)" if number == 1 else r"\(a.txt, b.txt, c.txt, \.\.\.\)"
    with pytest.raises(AlignmentError, match=f"also has files that are not of bilex {shown} and is left as it is"):
        check_replaceable(run)


def test_decisions_would_be_lost(run):
    corrections = Corrections(run / CORRECTIONS)
    with pytest.raises(AlignmentError, match="is open in bilex explore and is left as it is"):
        check_replaceable(run)
    corrections.close()
    check_replaceable(run)  # nothing has been decided
    corrections = Corrections(run / CORRECTIONS)
    corrections.decide("s1", "t2", "rejected")
    corrections.close()
    with pytest.raises(AlignmentError, match=rf"has 1 decisions? of bilex explore .* take {CORRECTIONS} out"):
        check_replaceable(run)


def test_what_is_no_run(run, tmp_path):
    with pytest.raises(AlignmentError, match="this is no run folder"):
        check_replaceable(tmp_path)
    (run / DESCRIPTION).write_text("half")
    with pytest.raises(AlignmentError, match=f"{DESCRIPTION}: cannot be read"):
        check_replaceable(run)


def test_a_link(run, tmp_path):
    try:
        (tmp_path / "link").symlink_to(run)
    except OSError:
        pytest.skip("no links here")
    with pytest.raises(AlignmentError, match="is a link and is left as it is: name the folder that it leads to"):
        check_replaceable(tmp_path / "link")


class TestSave:
    def test_in_place_of_another_run(self, world, alignment, run):
        with pytest.raises(AlignmentError, match=r"exists already .* replace it with `replace=True`"):
            alignment.save(run)
        other = align(world.source, world.target, world.train, method="cca")
        other.save(run, replace=True)
        assert Alignment.load(run).provenance["inputs"]["method"] == "cca"
        assert [path.name for path in run.parent.iterdir()] == ["run"]

    def test_what_came_while_the_new_one_was_written_is_not_lost(self, alignment, run, monkeypatch):
        write = type(alignment.trace).write

        def meanwhile(trace, path):
            (run / "notes.txt").write_text("mine")
            write(trace, path)

        monkeypatch.setattr(type(alignment.trace), "write", meanwhile)
        with pytest.raises(AlignmentError, match=r"notes\.txt"):
            alignment.save(run, replace=True)
        assert (run / "notes.txt").read_text() == "mine"
        assert Alignment.load(run).mapping
        assert [path.name for path in run.parent.iterdir()] == ["run"]
