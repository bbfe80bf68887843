import ast
import json
import math
import os
from pathlib import Path

import pytest

import bilex
from bilex.storage.strict_json import MAX_DEPTH, check_type, from_json, read_json, replace_nonfinite, to_json

SOURCE = Path(bilex.__file__).parent


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_null(number):
    value = {"a": number, "b": [1.5, (number, {"c": number})], "d": "NaN", "e": True}
    expected = {"a": None, "b": [1.5, [None, {"c": None}]], "d": "NaN", "e": True}
    assert json.loads(to_json(value)) == replace_nonfinite(value) == expected
    assert json.loads(to_json(value, indent=2)) == expected


def test_text_stays_as_it_is():
    assert to_json({"é": "\u2028ß"}) == '{"é": "\u2028ß"}'
    assert to_json({"a": [1, 2]}, indent=1) == '{\n "a": [\n  1,\n  2\n ]\n}'


def test_half_a_surrogate_pair_is_escaped():
    text = to_json({"file": "a\udcff", "\ud800": 1})
    assert text.isascii()
    assert from_json(text) == {"file": "a\udcff", "\ud800": 1}


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "1e999"])
def test_what_others_have_written_is_read_as_null(text):
    assert from_json(f'{{"a": [{text}]}}') == {"a": [None]}


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 3000, 100_000])
@pytest.mark.parametrize("brackets", ["[]", ('{"a":', "}")], ids=["lists", "objects"])
def test_deep_nesting_is_refused(depth, brackets):
    opening, closing = brackets
    with pytest.raises(ValueError, match=f"nested more than {MAX_DEPTH} levels deep"):
        from_json(opening * depth + "1" + closing * depth)
    assert from_json(opening * MAX_DEPTH + "1" + closing * MAX_DEPTH)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1', "[1,]", "1 2", b"\xff", b'"\xed\xa0\x80"', "\ufeff1", "9" * 5000])
def test_what_is_no_json_is_refused_in_a_line(text):
    with pytest.raises(ValueError, match=r"\w") as refused:
        from_json(text)
    assert "\n" not in str(refused.value)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="this is a pipe, needed a file"):
        read_json(tmp_path / "pipe")


def test_forms():
    check_type({"a": 1, "b": None}, dict[str, int | None])
    with pytest.raises(ValueError, match="Expected `int`, got `str`"):
        check_type({"a": "1"}, dict[str, int])


def test_nobody_else_writes_json():
    """But for the key of a cell, a hash: results that are known by it stay known."""
    found = {
        (path.relative_to(SOURCE).as_posix(), node.func.attr)
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "json"
    }
    assert {place for place, _ in found} == {"storage/strict_json.py", "bench/task.py"}
    assert ("bench/task.py", "loads") not in found
