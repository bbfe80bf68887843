import os

import pytest
import torch
from safetensors.torch import load_file, save_file

from bilex.storage.array_file import read_arrays, write_arrays

ARRAYS = {
    "a": torch.arange(6.0).view(2, 3).T,
    "n": torch.tensor(3),
    "b": torch.tensor([True, False]),
    "empty": torch.ones(0),
}
NOTES = {"one": "é", "two": "x\ud800"}


@pytest.fixture
def file(tmp_path):
    write_arrays(tmp_path / "arrays", ARRAYS, NOTES)
    return tmp_path / "arrays"


def test_come_back(file):
    arrays, notes = read_arrays(file)
    assert notes == NOTES
    assert arrays.keys() == ARRAYS.keys()
    assert all(torch.equal(arrays[name], array) for name, array in ARRAYS.items())
    assert all(arrays[name].dtype == array.dtype for name, array in ARRAYS.items())


def test_the_same_bytes_every_time(file, tmp_path):
    for i in range(10):
        write_arrays(tmp_path / str(i), ARRAYS, NOTES)
        assert (tmp_path / str(i)).read_bytes() == file.read_bytes()


def test_any_change_is_noticed(file):
    whole = file.read_bytes()
    for place in range(8, len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            arrays, notes = read_arrays(file)
        except (ValueError, OSError):
            continue
        # Spaces in the header mean nothing.
        assert notes == NOTES
        assert all(torch.equal(arrays[name], array) for name, array in ARRAYS.items())


@pytest.mark.parametrize("damage", [b"", b"no arrays", b"\xff" * 100, None], ids=["empty", "text", "long", "cut"])
def test_damage_is_refused(file, damage):
    file.write_bytes(file.read_bytes()[:-3] if damage is None else damage)
    with pytest.raises(ValueError, match="it is not a safetensors file"):
        read_arrays(file)
    with pytest.raises(ValueError, match="it is not a safetensors file"):
        read_arrays(file, checksum=False)


def test_a_file_without_a_checksum(file):
    save_file(load_file(file), file)
    with pytest.raises(ValueError, match="it has no checksum"):
        read_arrays(file)
    arrays, notes = read_arrays(file, checksum=False)
    assert (arrays.keys(), notes) == (ARRAYS.keys(), {})


@pytest.mark.parametrize("notes", ["[]", "{", '{"a": 1}', '{"a": [[]]}'])
def test_notes_that_are_none(file, notes):
    save_file(load_file(file), file, metadata={"bilex": notes})
    with pytest.raises(ValueError, match=r"\w"):
        read_arrays(file)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="this is a pipe"):
        read_arrays(tmp_path / "pipe")
