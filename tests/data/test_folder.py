import sys
from pathlib import Path

import pytest

from bilex.data import data_folder, get_collection
from bilex.data.folder import Place, Record, list_fetched
from bilex.errors import DataError


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path / "muse" / "wiki.en.vec")
    place.make()
    return place


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("BILEX_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def test_the_folder_that_was_named(home, monkeypatch):
    monkeypatch.setenv("BILEX_DATA", "/some/where")
    assert data_folder() == Path("/some/where")
    monkeypatch.setenv("BILEX_DATA", "")
    monkeypatch.setattr(sys, "platform", "linux")
    assert data_folder() == home / ".cache" / "bilex"


@pytest.mark.parametrize(
    ("platform", "folder"), [("linux", ".cache"), ("darwin", "Library/Caches"), ("win32", "AppData/Local")]
)
def test_the_caches_of_each_system(home, monkeypatch, platform, folder):
    monkeypatch.setattr(sys, "platform", platform)
    assert data_folder() == home / folder / "bilex"


def test_the_caches_that_the_user_named(home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "c"))
    assert data_folder() == home / "c" / "bilex"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    assert data_folder() == home / ".cache" / "bilex"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(home / "l"))
    assert data_folder() == home / "l" / "bilex"


def test_the_layout(tmp_path):
    items = get_collection("muse").items(["en-es"])
    paths = [Place.of(item, tmp_path).path.relative_to(tmp_path).as_posix() for item in items]
    assert paths == ["muse/en-es.0-5000.txt", "muse/en-es.5000-6500.txt", "muse/wiki.en.vec", "muse/wiki.es.vec"]


@pytest.mark.parametrize(
    ("max_words", "words", "asked", "enough"),
    [
        (None, None, None, True),
        (None, None, 5, True),
        (5, 5, 5, True),
        (5, 5, 4, True),
        (5, 5, 6, False),
        (5, 5, None, False),
        (5, 3, None, True),  # it had only three
    ],
)
def test_what_a_cut_file_is_enough_for(max_words, words, asked, enough):
    assert Record("u", 1, "s", "t", max_words, words).has(asked) is enough


def test_records(place):
    place.path.write_bytes(b"12345")
    assert place.records() == []
    assert place.current() is None
    whole, cut, again = Record("u", 5, "a", "t"), Record("u", 3, "b", "t", 2, 2), Record("u", 4, "c", "t", 2, 2)
    for record in (whole, cut, again):
        place.remember(record)
    assert place.records() == [whole, again]
    assert place.current() == whole
    assert place.known(2) == again
    assert place.known(3) is None
    place.path.write_bytes(b"1")
    assert place.current() is None


@pytest.mark.parametrize("text", ["{", '{"records": [{"x": 1}]}', '{"records": [3]}'])
def test_records_that_somebody_spoilt(place, text):
    place._records.write_text(text)
    with pytest.raises(DataError, match=r"wiki\.en\.vec\.json: .*remove it and fetch again"):
        place.records()


def test_what_is_there(place, tmp_path):
    assert list_fetched(tmp_path, "muse") == []
    assert list_fetched(tmp_path, "nothing") == []
    for name in ("wiki.en.vec", "wiki.es.vec.part", "wiki.es.vec.part.json", ".wiki.es.vec.1.tmp"):
        (tmp_path / "muse" / name).touch()
    assert list_fetched(tmp_path, "muse") == [place]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "muse").touch()
    with pytest.raises(DataError, match=r"cannot be created .* choose another `folder`"):
        Place(tmp_path / "muse" / "x").make()
