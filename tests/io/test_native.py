import json
import mmap
import struct

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from bilex.errors import TableError
from bilex.io import native
from bilex.io.native import METADATA, read_native
from bilex.io.open import read_contents
from bilex.io.write import write_contents

WORDS = ["un", "deux mots", "trois\u00a0", "четыре"]
ROWS = np.random.default_rng(3).normal(size=(4, 6)).astype(np.float32)
JOINED = np.frombuffer("\n".join(WORDS).encode(), np.uint8)


@pytest.fixture
def path(tmp_path):
    write_contents(tmp_path / "t.safetensors", WORDS, ROWS)
    return tmp_path / "t.safetensors"


def bottom(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array


def test_opens_what_it_wrote_without_copying(path):
    contents = read_contents(path)
    assert contents.words == WORDS
    assert np.array_equal(contents.rows, ROWS)
    assert type(contents.rows) is np.ndarray
    assert isinstance(bottom(contents.rows), mmap.mmap)
    assert contents.rows.flags.aligned


def test_rows_may_be_changed_and_the_file_is_not(path):
    before = path.read_bytes()
    rows = read_native(path).rows
    torch.from_numpy(rows).mul_(2)
    assert np.array_equal(rows, ROWS * 2)
    assert path.read_bytes() == before


def test_half_precision(tmp_path):
    write_contents(tmp_path / "t.safetensors", WORDS, ROWS, dtype="float16")
    rows = read_native(tmp_path / "t.safetensors").rows
    assert rows.dtype == np.float32
    assert np.array_equal(rows, ROWS.astype(np.float16).astype(np.float32))


def test_max_words(path):
    contents = read_native(path, max_words=2)
    assert (contents.words, contents.rows.shape) == (WORDS[:2], (2, 6))
    with pytest.raises(TableError, match="at least 1"):
        read_native(path, max_words=0)


def test_the_safetensors_library_reads_it(path):
    tensors = load_file(path)
    assert np.array_equal(tensors["rows"], ROWS)
    assert tensors["words"].tobytes().decode().split("\n") == WORDS


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_reads_what_the_safetensors_library_writes(tmp_path, dtype):
    save_file({"words": JOINED, "rows": ROWS.astype(dtype)}, tmp_path / "t.safetensors", METADATA)
    contents = read_contents(tmp_path / "t.safetensors")
    assert contents.words == WORDS
    assert np.array_equal(contents.rows, ROWS.astype(dtype).astype(np.float32))


def test_rows_at_an_odd_offset_are_copied(tmp_path):
    header = {
        "__metadata__": METADATA,
        "words": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        "rows": {"dtype": "F32", "shape": [1, 6], "data_offsets": [1, 25]},
    }
    encoded = json.dumps(header).encode()
    path = tmp_path / "t.safetensors"
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + b"a" + ROWS[0].tobytes())
    rows = read_contents(path).rows
    assert rows.flags.aligned
    assert np.array_equal(rows, ROWS[:1])


@pytest.mark.parametrize("missing", [1, 60, 100])
def test_file_cut_short_is_an_error(path, missing):
    path.write_bytes(path.read_bytes()[:-missing])
    with pytest.raises(TableError, match=r"has \d+ bytes, needed \d+ .cut short.; download or write it again"):
        read_contents(path)


def test_header_cut_short_is_an_error(path):
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(TableError, match="ends inside its header"):
        read_contents(path)


@pytest.mark.parametrize(
    ("tensors", "metadata", "message"),
    [
        ({"weight": ROWS}, None, "a safetensors file of weight, not a bilex table; make one with `bilex convert`"),
        ({"rows": ROWS, "words": JOINED}, METADATA | {"version": "2"}, "version 2, needed version 1; update bilex"),
        ({"rows": ROWS}, METADATA, "wrong description of 'words'"),
        ({"rows": ROWS.astype(np.float64), "words": JOINED}, METADATA, "wrong description of 'rows'"),
        ({"rows": ROWS[0], "words": JOINED}, METADATA, "wrong description of 'rows'"),
        ({"rows": ROWS[:3], "words": JOINED}, METADATA, "4 words and 3 rows"),
        ({"rows": ROWS[:1], "words": np.array([255], np.uint8)}, METADATA, "not UTF-8"),
    ],
)
def test_other_safetensors_are_an_error(tmp_path, tensors, metadata, message):
    save_file(tensors, tmp_path / "t.safetensors", metadata)
    with pytest.raises(TableError, match=message):
        read_contents(tmp_path / "t.safetensors")


@pytest.mark.parametrize(
    "rows",
    [
        {"dtype": "F32", "shape": [4, 6], "data_offsets": [0, 95]},
        {"dtype": "F32", "shape": [4, 6], "data_offsets": [-96, 0]},
        {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 96]},
        {"dtype": "F32", "shape": [-4, -6], "data_offsets": [0, 96]},
        {"dtype": "F32", "shape": "ab", "data_offsets": [0, 96]},
        {"dtype": "I32", "shape": [4, 6], "data_offsets": [0, 96]},
        {"dtype": "F32", "shape": [4, 6], "data_offsets": [0]},
        "rows",
    ],
)
def test_a_header_that_lies_is_an_error(tmp_path, rows):
    words = {"dtype": "U8", "shape": [1], "data_offsets": [96, 97]}
    encoded = json.dumps({"__metadata__": METADATA, "rows": rows, "words": words}).encode()
    path = tmp_path / "t.safetensors"
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + ROWS.tobytes() + b"a")
    with pytest.raises(TableError, match="wrong description of 'rows'"):
        read_contents(path)


@pytest.mark.parametrize("header", [b"{not json}", b"{\xff}"])
def test_a_header_that_is_not_json_is_an_error(tmp_path, header):
    path = tmp_path / "t.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(TableError, match="its header is not JSON"):
        read_contents(path)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_numbers_that_are_not_finite(tmp_path, monkeypatch, number, dtype):
    """Anywhere in the rows that are asked for; the others are not looked at."""
    monkeypatch.setattr(native, "BLOCK_ROWS", 2)
    path = tmp_path / "t.safetensors"
    write_contents(path, WORDS, ROWS, dtype=dtype)
    whole = path.read_bytes()
    start, size = 8 + int.from_bytes(whole[:8], "little"), np.dtype(dtype).itemsize
    for row in range(len(WORDS)):
        at = start + (row * ROWS.shape[1] + 4) * size
        path.write_bytes(whole[:at] + np.array(number, dtype).tobytes() + whole[at + size :])
        with pytest.raises(TableError, match=rf"numbers that are not finite, first in row {row + 1}; download or"):
            read_native(path)
        if row:
            assert len(read_native(path, max_words=row).rows) == row
