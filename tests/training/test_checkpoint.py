import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from bilex.errors import CheckpointError
from bilex.storage.array_file import write_arrays
from bilex.training.checkpoint import CHECKPOINT, FORMAT, Checkpoint
from bilex.training.trace import Trace


def test_a_state_is_found_again_with_the_records_up_to_it(tmp_path):
    trace, checkpoint = Trace(), Checkpoint(tmp_path)
    assert checkpoint.load(trace) is None
    trace(epoch=1)
    checkpoint.save(trace, {"w": torch.arange(6.0).view(2, 3).T, "step": torch.tensor(1.0)}, epoch=1, third=1 / 3)
    trace(epoch=2)
    again = Trace()
    state = Checkpoint(tmp_path).load(again)
    assert torch.equal(state.arrays["w"], torch.arange(6.0).view(2, 3).T)
    assert state.values == {"epoch": 1, "third": 1 / 3}
    assert again.records == [{"epoch": 1}]
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]


def test_without_a_folder_nothing_is_saved():
    checkpoint = Checkpoint()
    checkpoint.save(Trace(), {"w": torch.zeros(1)}, epoch=1)
    assert checkpoint.load(Trace()) is None


@pytest.mark.parametrize("damage", [b"", b"no tensors", None], ids=["empty", "text", "no records"])
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    from safetensors.torch import save

    (tmp_path / CHECKPOINT).write_bytes(save({"w": torch.zeros(1)}) if damage is None else damage)
    with pytest.raises(CheckpointError, match="cannot be read"):
        Checkpoint(tmp_path).load(Trace())


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
    write_arrays(tmp_path / CHECKPOINT, {"w": torch.zeros(1)}, {"format": FORMAT, **notes})
    with pytest.raises(CheckpointError, match=r"cannot be read: .*; remove .* and align again") as refused:
        Checkpoint(tmp_path).load(Trace())
    assert "another version" not in str(refused.value)


@pytest.mark.parametrize("notes", [{}, {"format": "1"}])
def test_a_checkpoint_of_another_version_is_refused(tmp_path, notes):
    write_arrays(tmp_path / CHECKPOINT, {"w": torch.zeros(1)}, {"values": "{}", "records": "[]", **notes})
    with pytest.raises(CheckpointError, match=r"saved by another version of bilex, .*; remove .* and align again"):
        Checkpoint(tmp_path).load(Trace())


def test_a_checkpoint_of_an_early_version_had_no_checksum(tmp_path):
    from safetensors.torch import save

    (tmp_path / CHECKPOINT).write_bytes(save({"w": torch.zeros(1)}, metadata={"values": "{}", "records": "[]"}))
    with pytest.raises(CheckpointError, match=r"saved by an early version of bilex, .*; remove .* and align again"):
        Checkpoint(tmp_path).load(Trace())


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_null(tmp_path, number):
    trace, again = Trace(), Trace()
    trace(loss=number)
    Checkpoint(tmp_path).save(trace, {"w": torch.zeros(1)}, best=number)
    assert Checkpoint(tmp_path).load(again).values == {"best": None}
    assert again.records == [{"loss": None}]


def test_a_bit_that_has_changed_is_noticed(tmp_path):
    Checkpoint(tmp_path).save(Trace(), {"w": torch.ones(4)}, epoch=1)
    data = bytearray((tmp_path / CHECKPOINT).read_bytes())
    data[-3] ^= 4
    (tmp_path / CHECKPOINT).write_bytes(data)
    with pytest.raises(CheckpointError, match="its checksum is wrong"):
        Checkpoint(tmp_path).load(Trace())


@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_stands_for_a_checkpoint_is_not_waited_for(tmp_path, kind):
    folder = tmp_path / "run.partial"
    folder.mkdir()
    path = folder / CHECKPOINT
    if kind == "link":
        Checkpoint(tmp_path).save(Trace(), {"w": torch.ones(4)}, epoch=1)
        path.symlink_to(tmp_path / CHECKPOINT)
    else:
        os.mkfifo(path) if kind == "pipe" else path.mkdir()
    with pytest.raises(CheckpointError, match="this symbolic link leads" if kind == "link" else f"this is a {kind}"):
        Checkpoint(folder).load(Trace())


def test_what_goes_wrong_while_a_state_is_taken_over_is_a_sentence(tmp_path):
    Checkpoint(tmp_path).save(Trace(), {"w": torch.ones(4)}, epoch=1)
    state = Checkpoint(tmp_path).load(Trace())
    for wrong in (lambda: state.arrays["v"], lambda: int(None), lambda: torch.ones(2) @ state.arrays["w"]):
        with (
            pytest.raises(CheckpointError, match=r"damaged, or of another method .* and align again"),
            state.unpacking(),
        ):
            wrong()


def test_a_part_of_longer_work(tmp_path):
    trace, checkpoint = Trace(), Checkpoint(tmp_path)
    part = checkpoint.part({"pairs": torch.ones(2)}, round=3)
    assert part.load(trace) is None
    part.save(trace, {"w": torch.zeros(1)}, epoch=1)
    state = Checkpoint(tmp_path).load(Trace())
    assert state.arrays["pairs"].tolist() == [1, 1]
    assert state.values["round"] == 3
    again = checkpoint.part({}, state=state.inner(), round=3).load(trace)
    assert (again.values, again.arrays["w"].tolist()) == ({"epoch": 1}, [0])
    checkpoint.save(trace, {"pairs": torch.ones(2)}, round=4)
    assert Checkpoint(tmp_path).load(Trace()).inner() is None


def test_parts_of_parts(tmp_path):
    outer = Checkpoint(tmp_path).part({"a": torch.ones(1)}, stage=1)
    outer.part({"b": torch.ones(2)}, round=2).save(Trace(), {"c": torch.ones(3)}, epoch=3)
    state = Checkpoint(tmp_path).load(Trace())
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
        checkpoint = Checkpoint(tmp_path, warn=said.append)
        for epoch in range(3):
            checkpoint.save(Trace(), {"w": torch.zeros(1)}, epoch=epoch)
        assert said == [
            f"{tmp_path / CHECKPOINT}: No space left on device; free some space there, or choose another place; until "
            "then an interruption loses all progress since the last checkpoint"
        ]
        assert checkpoint.last is None
        assert list(tmp_path.iterdir()) == []
        disk.full = False
        checkpoint.save(Trace(), {"w": torch.zeros(1)}, epoch=3)
        assert checkpoint.last == Checkpoint(tmp_path).load(Trace()).values == {"epoch": 3}
        disk.full = True
        checkpoint.save(Trace(), {"w": torch.ones(1)}, epoch=4)
        assert len(said) == 2
        assert checkpoint.last == Checkpoint(tmp_path).load(Trace()).values == {"epoch": 3}

    def test_is_a_warning_where_nobody_listens(self, tmp_path, disk):
        with pytest.warns(UserWarning, match="No space left on device"):
            Checkpoint(tmp_path).save(Trace(), {"w": torch.zeros(1)}, epoch=1)
