"""Whatever is done to a file, reading gives rows of the original or a TableError; never another exception."""

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
