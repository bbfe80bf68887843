import json

import pytest
import torch

from bilex.search import speedup as module
from bilex.search.bfloat16 import Bfloat16
from bilex.search.int8 import Int8
from bilex.search.speedup import MIN_SPEEDUP, _measure, gains

MACHINE = "Some processor, 2 threads, torch 2"


@pytest.fixture
def speedup(monkeypatch, tmp_path, request):
    """The function itself, for a machine on which nothing has been timed yet."""
    timed = []
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache" / "bilex")
    monkeypatch.setattr(module, "_machine", lambda: MACHINE)
    monkeypatch.setattr(module, "_measure", lambda kind: timed.append(kind) or 2.345)

    def run(kind):
        return ORIGINAL(kind)

    run.timed, run.file = timed, tmp_path / "cache" / "bilex" / module.FILE
    return run


ORIGINAL = module.speedup.__wrapped__


def test_is_timed_once_and_remembered(speedup):
    assert [speedup(Int8), speedup(Int8), speedup(Bfloat16)] == [2.35, 2.35, 2.35]
    assert speedup.timed == [Int8, Bfloat16]
    assert json.loads(speedup.file.read_text()) == {MACHINE: {"int8": 2.35, "bfloat16": 2.35}}


def test_other_machines_are_remembered_too(speedup, monkeypatch):
    speedup(Int8)
    monkeypatch.setattr(module, "_machine", lambda: "another")
    speedup(Int8)
    assert speedup.timed == [Int8, Int8]
    assert set(json.loads(speedup.file.read_text())) == {MACHINE, "another"}


@pytest.mark.parametrize("text", ["", "[]", "{", json.dumps({MACHINE: 1}), json.dumps({MACHINE: {"int8": "x"}})])
def test_a_damaged_file_is_written_anew(speedup, text):
    speedup.file.parent.mkdir(parents=True)
    speedup.file.write_text(text)
    assert speedup(Int8) == 2.35
    assert json.loads(speedup.file.read_text())[MACHINE] == {"int8": 2.35}


def test_a_folder_that_cannot_be_written_does_no_harm(speedup):
    speedup.file.parent.parent.write_text("a file, no folder")
    assert speedup(Int8) == 2.35


@pytest.mark.parametrize("kind", [Bfloat16, Int8])
def test_the_timed_search_runs(kind, monkeypatch):
    monkeypatch.setattr(module, "REPEATS", 1)
    monkeypatch.setattr(module, "QUERIES", 32)
    monkeypatch.setattr(module, "KEYS", 4160)
    if kind is Int8:
        monkeypatch.setattr(torch, "_int_mm", lambda a, b, out: out.copy_(a.long() @ b.long()), raising=False)
    assert _measure(kind) > 0


@pytest.mark.parametrize(
    ("int8", "bfloat16", "expected"),
    [
        (None, 2.0, (False, True)),
        (2.0, None, (True, False)),
        (2.0, 2.0, (False, True)),
        (2.0 * MIN_SPEEDUP, 2.0, (True, True)),
        (2.0, 1.0, (True, False)),
        (1.0, 0.5, (False, False)),
    ],
)
def test_gains(monkeypatch, int8, bfloat16, expected):
    """None: not native. A precision has to be faster than float32, and int8 faster than bfloat16 too."""
    timed = {Int8: int8, Bfloat16: bfloat16}
    monkeypatch.setattr(module, "speedup", lambda kind: timed[kind])
    for kind in timed:
        monkeypatch.setattr(kind, "is_native", staticmethod(lambda kind=kind: timed[kind] is not None))
    assert (gains(Int8, Bfloat16), gains(Bfloat16)) == expected


def test_the_machine_has_a_name():
    assert f"{torch.get_num_threads()} threads" in module._machine()
