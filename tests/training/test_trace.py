import errno
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from bilex.errors import CheckpointError
from bilex.storage.array_file import write_arrays
from bilex.training.trace import CHECKPOINT, Trace

RECORDS = [{"epoch": 1, "loss": 0.5, "note": "é", "best": None}, {"epoch": 2, "loss": 0.25, "done": True}]


def traced(listener=None):
    trace = Trace(listener)
    for record in RECORDS:
        trace(**record)
    return trace


def test_keeps_records_and_tells_the_listener():
    heard = []
    assert traced(heard.append).records == heard == RECORDS


def test_written_as_json_lines_and_read_back(tmp_path):
    path = tmp_path / "trace.jsonl"
    traced().write(path)
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == RECORDS
    assert Trace.read(path).records == RECORDS


def test_line_separators_inside_a_note_do_no_harm(tmp_path):
    trace = Trace()
    trace(note="a\u2028b\nc\x85d")
    trace.write(tmp_path / "t")
    assert Trace.read(tmp_path / "t").records == trace.records


def test_no_records(tmp_path):
    Trace().write(tmp_path / "empty")
    assert Trace.read(tmp_path / "empty").records == []
    assert Trace.read(tmp_path / "absent").records == []


def test_a_state_is_found_again_with_the_records_up_to_it(tmp_path):
    trace = Trace(folder=tmp_path)
    assert trace.restore() is None
    trace(epoch=1)
    trace.checkpoint({"w": torch.arange(6.0).view(2, 3).T, "step": torch.tensor(1.0)}, epoch=1, third=1 / 3)
    trace(epoch=2)
    again = Trace(folder=tmp_path)
    state = again.restore()
    assert torch.equal(state.arrays["w"], torch.arange(6.0).view(2, 3).T)
    assert state.values == {"epoch": 1, "third": 1 / 3}
    assert again.records == [{"epoch": 1}]
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]


def test_without_a_folder_nothing_is_kept():
    trace = Trace()
    trace.checkpoint({"w": torch.zeros(1)}, epoch=1)
    assert trace.restore() is None


@pytest.mark.parametrize("damage", [b"", b"no tensors", None], ids=["empty", "text", "no records"])
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    from safetensors.torch import save

    (tmp_path / CHECKPOINT).write_bytes(save({"w": torch.zeros(1)}) if damage is None else damage)
    with pytest.raises(CheckpointError, match="cannot be read"):
        Trace(folder=tmp_path).restore()


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"values": "{}"},
        {"values": "[]", "records": "[]"},
        {"values": "{}", "records": "[3]"},
        {"values": '{"a": [1]}', "records": "[]"},
        {"values": "{", "records": "[]"},
        {"values": "{}", "records": "[" * 5000},
    ],
)
def test_notes_of_a_checkpoint_that_are_none(tmp_path, notes):
    write_arrays(tmp_path / CHECKPOINT, {"w": torch.zeros(1)}, notes)
    with pytest.raises(CheckpointError, match=r"cannot be read: .*; remove .* and align again"):
        Trace(folder=tmp_path).restore()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_null_in_every_file(tmp_path, number):
    trace = Trace(folder=tmp_path)
    trace(loss=number)
    trace.write(tmp_path / "trace.jsonl")
    trace.checkpoint({"w": torch.zeros(1)}, best=number)
    assert (tmp_path / "trace.jsonl").read_text() == '{"loss": null}\n'
    again = Trace(folder=tmp_path)
    assert again.restore().values == {"best": None}
    assert again.records == Trace.read(tmp_path / "trace.jsonl").records == [{"loss": None}]


def test_a_bit_that_has_changed_is_noticed(tmp_path):
    Trace(folder=tmp_path).checkpoint({"w": torch.ones(4)}, epoch=1)
    data = bytearray((tmp_path / CHECKPOINT).read_bytes())
    data[-3] ^= 4
    (tmp_path / CHECKPOINT).write_bytes(data)
    with pytest.raises(CheckpointError, match="its checksum is wrong"):
        Trace(folder=tmp_path).restore()


@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_stands_for_a_checkpoint_is_not_waited_for(tmp_path, kind):
    folder = tmp_path / "run.partial"
    folder.mkdir()
    path = folder / CHECKPOINT
    if kind == "link":
        Trace(folder=tmp_path).checkpoint({"w": torch.ones(4)}, epoch=1)
        path.symlink_to(tmp_path / CHECKPOINT)
    else:
        os.mkfifo(path) if kind == "pipe" else path.mkdir()
    with pytest.raises(CheckpointError, match=f"this is a {kind}"):
        Trace(folder=folder).restore()


def test_what_goes_wrong_while_a_state_is_taken_over_is_a_sentence(tmp_path):
    Trace(folder=tmp_path).checkpoint({"w": torch.ones(4)}, epoch=1)
    state = Trace(folder=tmp_path).restore()
    for wrong in (lambda: state.arrays["v"], lambda: int(None), lambda: torch.ones(2) @ state.arrays["w"]):
        with (
            pytest.raises(CheckpointError, match=r"damaged, or of another method .* and align again"),
            state.unpacking(),
        ):
            wrong()


def test_a_part_of_longer_work(tmp_path):
    heard, seen = [], []
    trace = Trace(heard.append, watcher=lambda *told: seen.append(told), folder=tmp_path)
    trace(start=True)
    part = trace.within({"pairs": torch.ones(2)}, round=3)
    assert part.restore() is None
    part(epoch=1)
    part.progress("searching")(1, 2)
    part.checkpoint({"w": torch.zeros(1)}, epoch=1)
    assert trace.records == part.records == heard == [{"start": True}, {"round": 3, "epoch": 1}]
    assert seen == [("round 3: searching", 0.5)]
    state = Trace(folder=tmp_path).restore()
    assert state.arrays["pairs"].tolist() == [1, 1]
    assert state.values["round"] == 3
    again = trace.within({}, state=state.inner(), round=3).restore()
    assert (again.values, again.arrays["w"].tolist()) == ({"epoch": 1}, [0])
    trace.checkpoint({"pairs": torch.ones(2)}, round=4)
    assert Trace(folder=tmp_path).restore().inner() is None


def test_a_part_may_use_the_names_of_the_whole():
    trace = Trace()
    trace.within({}, round=1)(round=5, pairs=7)
    trace.within({}, round=1).within({}, round=2)(round=3)
    assert trace.records == [
        {"round": 1, "part.round": 5, "pairs": 7},
        {"round": 1, "part.round": 2, "part.part.round": 3},
    ]


def test_parts_of_parts(tmp_path):
    inner = Trace(folder=tmp_path).within({"a": torch.ones(1)}, stage=1).within({"b": torch.ones(2)}, round=2)
    inner(epoch=3)
    inner.checkpoint({"c": torch.ones(3)}, epoch=3)
    assert inner.records == [{"stage": 1, "round": 2, "epoch": 3}]
    state = Trace(folder=tmp_path).restore()
    assert state.inner().inner().values == {"epoch": 3}
    assert list(state.inner().inner().arrays) == ["c"]


class TestFullDisk:
    @pytest.fixture
    def disk(self, monkeypatch):
        """Full until it is freed."""
        state = SimpleNamespace(full=True)

        def write(path, data):
            if state.full:
                written(path, data[:10])
                raise OSError(errno.ENOSPC, "No space left on device")
            return written(path, data)

        written = Path.write_bytes
        monkeypatch.setattr(Path, "write_bytes", write)
        return state

    def test_is_warned_of_once_and_tried_again(self, tmp_path, disk):
        said = []
        trace = Trace(folder=tmp_path, warn=said.append)
        for epoch in range(3):
            trace.checkpoint({"w": torch.zeros(1)}, epoch=epoch)
        assert said == [
            f"{tmp_path / CHECKPOINT}: No space left on device; free some space there, or choose another place; until "
            "then an interruption loses what is being learnt"
        ]
        assert trace.kept is None
        assert list(tmp_path.iterdir()) == []
        disk.full = False
        trace.checkpoint({"w": torch.zeros(1)}, epoch=3)
        assert trace.kept == Trace(folder=tmp_path).restore().values == {"epoch": 3}
        disk.full = True
        trace.checkpoint({"w": torch.ones(1)}, epoch=4)
        assert len(said) == 2
        assert trace.kept == Trace(folder=tmp_path).restore().values == {"epoch": 3}

    def test_is_a_warning_where_nobody_listens(self, tmp_path, disk):
        with pytest.warns(UserWarning, match="No space left on device"):
            Trace(folder=tmp_path).checkpoint({"w": torch.zeros(1)}, epoch=1)
