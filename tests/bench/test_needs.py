import pytest

from bilex.bench.needs import check_needs, missing_files, requirements
from bilex.bench.suite import Suite
from bilex.errors import MissingExtraError, SuiteError
from bilex.methods.base import Requirement
from bilex.methods.css import Css

SYSTEMS = '[[systems]]\nmethod = "css"\n[[systems]]\nmethod = "pss"\n[[systems]]\nmethod = "procrustes"\n'
MUSE = 'title = "x"\n[directions.en-es]\nmuse = "en-es"\n[directions.es-en]\nmuse = "es-en"\n'
SAMPLE = 'title = "x"\n[directions.en-fr]\nsample = "en-fr"\n'


def test_files_that_are_not_there_are_named_once_with_the_command_that_fetches_them(write, tmp_path):
    lines = missing_files(Suite.read(write(MUSE + SYSTEMS)).cells())
    folder = tmp_path / "data" / "muse"
    files = ["wiki.en.vec", "wiki.es.vec", "en-es.0-5000.txt", "en-es.5000-6500.txt"]
    files += ["es-en.0-5000.txt", "es-en.5000-6500.txt"]
    assert lines[:-1] == [f"{folder / file}: there is no such file" for file in files]
    assert lines[-1] == "fetch them with bilex data fetch muse en-es es-en"
    assert missing_files(Suite.read(write(SAMPLE + SYSTEMS)).cells()) == []


def test_other_files_have_their_own_advice(write, monkeypatch):
    monkeypatch.delenv("BILEX_SHARED", raising=False)
    lines = missing_files(Suite.read("open-table-2").cells(directions=["en-he"]))
    assert any("BILEX_SHARED is not set; set it to the folder of the data" in line for line in lines)


def test_extras(write):
    cells = Suite.read(write(SAMPLE + SYSTEMS)).cells()
    assert requirements(cells) == {Requirement("ot", "POT", "transport"): ["css", "pss"]}
    check_needs(cells)


def test_a_missing_extra_is_said_before_anything_runs(write, monkeypatch):
    monkeypatch.setattr(Css, "requires", replace_module(Css.requires))
    cells = Suite.read(write(SAMPLE + SYSTEMS)).cells()
    with pytest.raises(MissingExtraError, match=r"system css needs the package POT: pip install 'bilex\[transport\]'"):
        check_needs(cells)
    check_needs(Suite.read(write(SAMPLE + SYSTEMS)).cells(systems="procrustes"))


def replace_module(requirement):
    return requirement._replace(module="a_module_that_nobody_has")


def test_a_missing_file_is_refused(write):
    with pytest.raises(SuiteError, match=r"wiki\.en\.vec: there is no such file; fetch it with bilex data"):
        check_needs(Suite.read(write(MUSE + SYSTEMS)).cells())
