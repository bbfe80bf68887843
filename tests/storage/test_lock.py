import errno
import os
import re
import socket
import subprocess
import sys
import threading

import pytest

from bilex.errors import LockError
from bilex.storage.lock import CannotLockError, exclusive_lock, lock_owner, wait_for_lock

HOLD = """
import sys, time
from pathlib import Path
from bilex.storage.lock import wait_for_lock
with wait_for_lock(Path(sys.argv[1]), print):
    print("mine", flush=True)
    sys.stdin.read()
"""


def never(*_):
    pytest.fail("the lock should be free")


@pytest.fixture
def holder(tmp_path):
    """A process that has the lock on tmp_path / "l"."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "l")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().strip() == b"mine"
        yield process
        process.stdin.close()


def test_one_after_the_other(tmp_path):
    for _ in range(2):
        with wait_for_lock(tmp_path / "l", never):
            assert (tmp_path / "l").exists()
        assert list(tmp_path.iterdir()) == []


def test_a_second_one_waits_and_says_so_once(tmp_path):
    order, waits = [], []
    waited_twice = threading.Event()

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 2:
            waited_twice.set()
        released.wait(0.01)

    def second():
        with wait_for_lock(tmp_path / "l", lambda _: order.append("told"), wait):
            order.append("second")

    released = threading.Event()
    thread = threading.Thread(target=second)
    with wait_for_lock(tmp_path / "l", never):
        thread.start()
        assert waited_twice.wait(20)
        order.append("first")
    released.set()
    thread.join()
    assert order == ["told", "first", "second"]


def test_a_process_that_dies_leaves_no_lock(tmp_path, holder):
    told = []
    with wait_for_lock(tmp_path / "l", told.append, lambda _: (holder.kill(), holder.wait())):
        assert len(told) == 1


def test_says_who_has_it(tmp_path, holder):
    who = rf"process {holder.pid} on {re.escape(socket.gethostname())} \(since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d.*\)"
    with pytest.raises(LockError, match=f"{who} is using this folder; wait for it"), exclusive_lock(tmp_path / "l"):
        pass
    assert re.fullmatch(who, lock_owner(tmp_path / "l"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"process": "x"}',
        '{"process": 1, "host": "\\u001b[2J", "since": ""}',
        f'{{"process": 1, "host": "{"x" * 400}", "since": ""}}',
    ],
    ids=["empty", "cut", "list", "word", "escape", "long"],
)
def test_whatever_stands_in_the_file_is_told_only_if_it_can_be(tmp_path, text):
    (tmp_path / "l").write_text(text)
    assert lock_owner(tmp_path / "l") == "another process"
    with exclusive_lock(tmp_path / "l"):
        pass


def test_who_waited_for_a_file_that_was_removed_has_the_new_one(tmp_path):
    """Else two would have the lock: one on a file that nobody finds, and one on that which is there now."""

    def remove(_):
        (tmp_path / "l").unlink()
        (tmp_path / "l").touch()

    with exclusive_lock(tmp_path / "l"), wait_for_lock(tmp_path / "l", lambda _: None, remove):
        with pytest.raises(LockError), exclusive_lock(tmp_path / "l"):
            pass
        assert (tmp_path / "l").exists()


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "l").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic link"), exclusive_lock(tmp_path / "l"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("bilex.storage.lock.lock_descriptor", refuse)
    with pytest.raises(CannotLockError, match="No locks available"), wait_for_lock(tmp_path / "l", never):
        pass
    with exclusive_lock(tmp_path / "l"):
        pass


def test_no_file_stays_open(tmp_path):
    """A new one has the lowest number that is free."""

    def lowest():
        descriptor = os.open(os.devnull, os.O_RDONLY)
        os.close(descriptor)
        return descriptor

    before = lowest()
    for _ in range(3):
        with exclusive_lock(tmp_path / "l"), pytest.raises(LockError), exclusive_lock(tmp_path / "l"):
            pass
    assert lowest() == before
