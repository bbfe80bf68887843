import errno
import hashlib
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from bilex.errors import DiskFullError
from bilex.storage.disk import describe_os_error, require_disk_space
from bilex.storage.files import atomic_folder, atomic_write, remove_folder, sha256


class Stop(BaseException):
    """Not an Exception: an interrupt must leave nothing behind either."""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("old")
    with atomic_write(path) as temporary:
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
        fill_and_fail(atomic_write(path), "", error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.tsv"]


def test_a_folder_appears_whole(tmp_path):
    path = tmp_path / "deep" / "run"
    with atomic_folder(path) as temporary:
        (temporary / "a").write_text("a")
        assert not path.exists()
    assert names(path) == ["a"]
    assert names(path.parent) == ["run"]


@pytest.mark.parametrize("error", [OSError, Stop])
def test_a_failed_folder_leaves_nothing(tmp_path, error):
    with pytest.raises(error):
        fill_and_fail(atomic_folder(tmp_path / "run"), "a", error)
    assert names(tmp_path) == []


def test_a_folder_with_something_in_it_is_never_replaced(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("mine")
    with pytest.raises(OSError, match=r"not empty|exists"), atomic_folder(tmp_path / "run") as temporary:
        (temporary / "a").write_text("a")
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["mine"]


def test_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"abc" * 100_000)
    assert sha256(tmp_path / "a") == hashlib.sha256(b"abc" * 100_000).hexdigest()


SAME_NUMBER = """
import os, sys
from pathlib import Path
os.getpid = lambda: 1
from bilex.storage.files import atomic_write
for _ in range(100):
    with atomic_write(Path(sys.argv[1])) as temporary, temporary.open("w") as file:
        for _ in range(20):
            file.write(sys.argv[2] * 1000)
            file.flush()
"""


def test_processes_with_the_same_number_do_not_mix_their_files(tmp_path):
    """As in two containers with one shared volume."""
    path = tmp_path / "a"
    writers = [subprocess.Popen([sys.executable, "-c", SAME_NUMBER, str(path), letter]) for letter in "abcd"]
    try:
        while any(writer.poll() is None for writer in writers):
            if path.exists():
                text = path.read_text()
                assert text in {letter * 20_000 for letter in "abcd"}
    finally:
        codes = [writer.wait() for writer in writers]
    assert codes == [0] * 4
    assert names(tmp_path) == ["a"]


KILLED = """
import os, signal, sys
from pathlib import Path
from bilex.storage import files
with getattr(files, sys.argv[1])(Path(sys.argv[2])) as temporary:
    (temporary / "a" if temporary.is_dir() else temporary).write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is cleared there")
@pytest.mark.parametrize("kind", [atomic_write, atomic_folder])
def test_what_a_killed_process_has_left_is_cleared_by_the_next(tmp_path, kind):
    subprocess.run([sys.executable, "-c", KILLED, kind.__name__, str(tmp_path / "a")], check=False)
    (left,) = names(tmp_path)
    assert left.startswith(".a.")
    for other in (".a.b.0123456789abcdef.tmp", ".a.0123.tmp", ".b.0123456789abcdef.tmp"):
        (tmp_path / other).touch()
    with atomic_write(tmp_path / "a") as temporary:
        assert left not in names(tmp_path)
        temporary.write_text("whole")
    assert names(tmp_path) == sorted([".a.b.0123456789abcdef.tmp", ".a.0123.tmp", ".b.0123456789abcdef.tmp", "a"])


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is cleared there")
@pytest.mark.parametrize("kind", [atomic_write, atomic_folder])
def test_what_another_is_writing_is_not_cleared(tmp_path, kind):
    with kind(tmp_path / "a") as first:
        with atomic_write(tmp_path / "a") as second:
            second.write_text("second")
        assert first.exists()
        (tmp_path / "a").unlink()
    assert names(tmp_path) == ["a"]


def test_where_nothing_can_be_locked_nothing_is_cleared(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("bilex.storage.lock.lock_descriptor", refuse)
    (tmp_path / ".a.0123456789abcdef.tmp").touch()
    with atomic_write(tmp_path / "a") as temporary:
        temporary.write_text("a")
    assert names(tmp_path) == [".a.0123456789abcdef.tmp", "a"]


def test_contents_are_on_disk_before_the_name_is(tmp_path, monkeypatch):
    done = []

    def sync(descriptor):
        done.append((os.fstat(descriptor).st_ino, sorted(p.name for p in tmp_path.iterdir() if p.name[0] != ".")))

    monkeypatch.setattr("os.fsync", sync)
    with atomic_write(tmp_path / "a") as temporary:
        temporary.write_text("a")
        first = temporary.stat().st_ino
    with atomic_folder(tmp_path / "run") as temporary:
        (temporary / "deep").mkdir()
        (temporary / "deep" / "b").write_text("b")
        inside = {path.stat().st_ino for path in (temporary, temporary / "deep", temporary / "deep" / "b")}
    above = tmp_path.stat().st_ino
    assert done[:2] == [(first, []), (above, ["a"])]
    assert {inode for inode, there in done[2:] if there == ["a"]} == inside
    assert done[-1] == (above, ["a", "run"])


def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "other").touch()
    (tmp_path / "folder").mkdir()
    with atomic_write(tmp_path / "a") as temporary:
        temporary.write_text("a")
    with atomic_folder(tmp_path / "run"):
        pass
    for one, other in (("a", "other"), ("run", "folder")):
        assert (tmp_path / one).stat().st_mode == (tmp_path / other).stat().st_mode


def test_a_folder_is_removed(tmp_path):
    (tmp_path / "run" / "deep").mkdir(parents=True)
    remove_folder(tmp_path / "run")
    remove_folder(tmp_path / "run")
    assert names(tmp_path) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO])
def test_an_error_of_the_disk_has_the_name_of_the_file(tmp_path, number):
    with (
        pytest.raises(OSError, match=os.strerror(number)) as caught,
        atomic_folder(tmp_path / "run") as folder,
        atomic_write(folder / "inner"),
    ):
        raise OSError(number, os.strerror(number))
    assert (caught.value.errno, caught.value.filename) == (number, str(tmp_path / "run"))


def test_a_folder_that_is_not_there_is_said_by_the_name_of_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "absent" / "a"):
        pass
    assert caught.value.filename == str(tmp_path / "absent" / "a")


@pytest.mark.parametrize("advice", ["", "try again"])
def test_what_to_do(advice):
    full, broken = OSError(errno.ENOSPC, "full"), OSError(errno.EIO, "broken")
    assert describe_os_error(full, advice) == "full; free some space there, or choose another place"
    assert describe_os_error(broken, advice) == "; ".join(["broken", *filter(None, [advice])])


def test_room(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda place: (place == tmp_path) and SimpleNamespace(free=2_000_000_000))
    path = tmp_path / "deep" / "run"
    require_disk_space(path, 2_000_000_000, "the run")
    with pytest.raises(DiskFullError, match=r"run: the run will take 2\.1 GB, and 2\.0 GB are free there; free some"):
        require_disk_space(path, 2_100_000_000, "the run")
