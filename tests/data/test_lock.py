import errno
import subprocess
import sys
import threading

import pytest

from bilex.data.lock import locked
from bilex.errors import DataError

HOLD = """
import sys, time
from pathlib import Path
from bilex.data.lock import locked
with locked(Path(sys.argv[1]), lambda: None):
    print("mine", flush=True)
    sys.stdin.read()
"""


def never():
    pytest.fail("the lock should be free")


def test_one_after_the_other(tmp_path):
    with locked(tmp_path / "l", never):
        pass
    with locked(tmp_path / "l", never):
        pass
    assert (tmp_path / "l").exists()


def test_a_second_one_waits_and_says_so_once(tmp_path):
    order, waits = [], []
    waited_twice = threading.Event()

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 2:
            waited_twice.set()
        released.wait(0.01)

    def second():
        with locked(tmp_path / "l", lambda: order.append("told"), wait):
            order.append("second")

    released = threading.Event()
    thread = threading.Thread(target=second)
    with locked(tmp_path / "l", never):
        thread.start()
        assert waited_twice.wait(20)
        order.append("first")
    released.set()
    thread.join()
    assert order == ["told", "first", "second"]


def test_a_process_that_dies_leaves_no_lock(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "l")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().strip() == b"mine"
        told = []
        with locked(tmp_path / "l", lambda: told.append(1), lambda _: (process.kill(), process.wait())):
            assert told == [1]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(DataError, match=r"cannot be locked \(No locks available\).*--folder"),
        locked(tmp_path / "l", never),
    ):
        pass
