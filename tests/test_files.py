import hashlib

import pytest

from bilex.files import replacing, replacing_folder, sha256


class Stop(BaseException):
    """Not an Exception: an interrupt must leave nothing behind either."""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.tsv"]


def fill_and_fail(context, file, error):
    with context as temporary:
        (temporary / file).write_text("half")
        raise error


@pytest.mark.parametrize("error", [OSError, Stop])
def test_a_failed_file_leaves_the_old_one(tmp_path, error):
    path = tmp_path / "a.tsv"
    path.write_text("old")
    with pytest.raises(error):
        fill_and_fail(replacing(path), "", error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.tsv"]


def test_a_folder_appears_whole(tmp_path):
    path = tmp_path / "deep" / "run"
    with replacing_folder(path) as temporary:
        (temporary / "a").write_text("a")
        assert not path.exists()
    assert names(path) == ["a"]
    assert names(path.parent) == ["run"]


@pytest.mark.parametrize("error", [OSError, Stop])
def test_a_failed_folder_leaves_nothing(tmp_path, error):
    with pytest.raises(error):
        fill_and_fail(replacing_folder(tmp_path / "run"), "a", error)
    assert names(tmp_path) == []


def test_a_folder_with_something_in_it_is_never_replaced(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("mine")
    with pytest.raises(OSError, match=r"not empty|exists"), replacing_folder(tmp_path / "run") as temporary:
        (temporary / "a").write_text("a")
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["mine"]


def test_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"abc" * 100_000)
    assert sha256(tmp_path / "a") == hashlib.sha256(b"abc" * 100_000).hexdigest()
