import json

import numpy as np
import pytest

from bilex.io.inspection import find_order_problem, inspect_table
from bilex.io.write import write_contents


def test_tells_what_a_file_holds(tmp_path):
    path = tmp_path / "t.vec"
    path.write_bytes(
        b"\xef\xbb\xbf9 2\nThe 3 4\nthe 0 1\nof 6 8\nNew York 1 0\n"
        + "a\u00a0b 0 2\n".encode()
        + b"zero 0 0\nof 1 1\nbad 1\n"
    )
    found = inspect_table(path)
    assert (found.format, found.rows, found.dim, found.bytes) == ("vec", 5, 2, path.stat().st_size)
    assert (found.header.words, found.header.width) == (9, 2)
    assert (found.norms.smallest, found.norms.median, found.norms.largest, found.norms.zero) == (1, 2, 10, 1)
    assert found.spelling.with_upper_case == pytest.approx(2 / 5)
    assert (found.spelling.differ_only_by_case, found.spelling.with_spaces, found.spelling.with_other_spaces) == (
        2,
        1,
        1,
    )
    assert (found.spelling.byte_order_mark, found.spelling.undecodable, found.subwords) == (True, 0, False)
    assert found.first_words[:2] == ["The", "the"]
    counts = {kind: found.report.count(kind) for kind in ("duplicate", "zero", "wrong_width", "header")}
    assert counts == {"duplicate": 1, "zero": 1, "wrong_width": 1, "header": 1}


def test_json_is_plain(tmp_path):
    write_contents(tmp_path / "t.safetensors", ["a"], np.array([[3e38, 3e38]], np.float32))
    found = json.loads(json.dumps(inspect_table(tmp_path / "t.safetensors").to_json()))
    assert found["format"] == "safetensors"
    assert found["header"] is None
    assert found["norms"]["largest"] == pytest.approx(3e38 * 2**0.5)
    assert found["report"]["kept"] == 1


class TestOrder:
    """Words get longer down a list of frequencies."""

    words = tuple(f"{number:x}" * (1 + number // 1000) for number in np.random.default_rng(0).permutation(3000))
    by_frequency = sorted(words, key=len)

    def test_by_frequency(self):
        assert find_order_problem(self.by_frequency) is None
        assert find_order_problem(sorted(self.words, key=lambda word: (len(word) // 2, word))) is None

    def test_alphabetical(self):
        assert find_order_problem(sorted(self.words)) == "is in alphabetical order"

    def test_shuffled(self):
        assert "its first words are not shorter" in find_order_problem(self.words)

    def test_too_few_to_tell(self):
        assert find_order_problem(sorted(self.words)[:1999]) is None
