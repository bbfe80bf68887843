"""Whatever is done to a file, reading gives rows of the original or a TableError; never another exception."""

import gzip
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bilex.errors import TableError
from bilex.io.open import read_contents
from bilex.io.write import write_contents

WORDS = ["the", "of", "слово", "a\u00a0b", "x"]
ROWS = np.random.default_rng(6).normal(size=(5, 3)).astype(np.float32)
NAMES = ["t.vec", "t.vec.gz", "t.txt", "t.bin", "t.npz", "t.safetensors"]
quiet = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(params=NAMES)
def path(tmp_path, request):
    write_contents(tmp_path / request.param, WORDS, ROWS)
    return tmp_path / request.param


def try_to_read(path, data):
    copy = path.with_name(f"damaged-{path.name}")
    copy.write_bytes(data)
    try:
        contents = read_contents(copy)
    except TableError as error:
        assert str(copy) in str(error)  # noqa: PT017 (either outcome is right)
        return None
    assert len(contents.words) == len(contents.rows)
    return contents


def test_cut_anywhere(path):
    """In text without its last newline the last number may have been cut; all other rows are the original's."""
    whole = path.read_bytes()
    for end in range(len(whole)):
        contents = try_to_read(path, whole[:end])
        if contents is not None and (len(contents.words) > 1 or contents.header):  # one line alone has any width
            assert path.suffix in (".vec", ".txt", ".bin")
            n = len(contents.words) - 1
            assert contents.words == WORDS[: n + 1]
            assert np.array_equal(contents.rows[:n], ROWS[:n])
            assert np.array_equal(contents.rows[n, :-1], ROWS[n, :-1])


@quiet
@given(data=st.data())
def test_damaged_anywhere(path, data):
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    contents = try_to_read(path, bytes(whole))
    assert contents is None or contents.rows.ndim == 2


@quiet
@given(
    start=st.sampled_from([b"", b"2 3\n", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x1f\x8b\x08\x00"]), noise=st.binary()
)
def test_noise(tmp_path, start, noise):
    contents = try_to_read(tmp_path / "noise", start + noise)
    assert contents is None or contents.rows.ndim == 2


def mutated(data, whole, most=4):
    """The bytes with some replaced, put in or left out."""
    found = bytearray(whole)
    for _ in range(data.draw(st.integers(1, most))):
        place = data.draw(st.integers(0, max(0, len(found) - 1)))
        found[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    return bytes(found)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@quiet
@given(data=st.data())
def test_damaged_header_of_npy(tmp_path, data):
    """Numpy reads it as Python, with all the errors that this has."""
    path = tmp_path / "t.npy"
    path.with_name("damaged-t.words").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    whole = npy(ROWS)
    contents = try_to_read(path, mutated(data, whole[:128]) + whole[128:])
    assert contents is None or contents.rows.ndim == 2


MEMBERS = {"joined": np.frombuffer("\n".join(WORDS).encode(), np.uint8), "strings": np.array(WORDS), "rows": ROWS}


@quiet
@given(data=st.data(), words=st.sampled_from(["joined", "strings"]), damaged=st.sampled_from(["words", "rows"]))
def test_damaged_member_of_npz(tmp_path, data, words, damaged):
    """Packed again after the damage, so that no check sum tells of it."""
    members = {"words": npy(MEMBERS[words]), "rows": npy(ROWS)}
    members[damaged] = mutated(data, members[damaged])
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, found in members.items():
            archive.writestr(f"{name}.npy", found)
    contents = try_to_read(tmp_path / "t.npz", file.getvalue())
    assert contents is None or "".join(contents.words).encode()


ODD = [
    None,
    True,
    5,
    5.0,
    -1,
    0,
    1e300,
    10**30,
    "",
    "F16",
    [],
    [5],
    [5, 3],
    [5.0, 3.0],
    [0, 60],
    [3, "5"],
    {},
    {"a": []},
]


@quiet
@given(data=st.data())
def test_damaged_header_of_safetensors(tmp_path, data):
    write_contents(tmp_path / "t.safetensors", WORDS, ROWS)
    whole = (tmp_path / "t.safetensors").read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    part = header[data.draw(st.sampled_from(sorted(header)))]
    place = data.draw(st.sampled_from(["whole", *sorted(part)]))
    if place == "whole":
        header[data.draw(st.sampled_from(sorted(header)))] = data.draw(st.sampled_from(ODD))
    elif isinstance(part[place], list):
        part[place][data.draw(st.integers(0, len(part[place]) - 1))] = data.draw(st.sampled_from(ODD))
    else:
        part[place] = data.draw(st.sampled_from(ODD))
    encoded = json.dumps(header).encode()
    contents = try_to_read(tmp_path / "t.safetensors", len(encoded).to_bytes(8, "little") + encoded + whole[8 + size :])
    assert contents is None or contents.rows.ndim == 2


def test_deeply_nested_header_of_safetensors(tmp_path):
    for encoded in (b"{" + b'"a":{' * 100_000, b"{ " + b"[" * 100_000):
        assert try_to_read(tmp_path / "t.safetensors", len(encoded).to_bytes(8, "little") + encoded) is None


@quiet
@given(
    numbers=st.tuples(*2 * [st.sampled_from([0, 1, 3, 5, 70_000, 10**9, 10**15, 10**19 - 1])]),
    compressed=st.booleans(),
    suffix=st.sampled_from(["vec", "bin"]),
)
def test_header_that_lies(tmp_path, numbers, compressed, suffix):
    path = tmp_path / f"t.{suffix}"
    write_contents(path, WORDS, ROWS)
    whole = b"%d %d\n" % numbers + path.read_bytes().partition(b"\n")[2]
    contents = try_to_read(path, gzip.compress(whole) if compressed else whole)
    assert contents is None or contents.rows.nbytes <= len(whole)
