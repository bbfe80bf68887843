"""The fast way and the slow way agree with each other, and with a reference that has no tricks."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bilex.io import text
from bilex.io.lines import parse_fast, parse_line_by_line
from bilex.io.text import read_text

WIDTH = 3
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda value: str(np.float32(value)))
odd_numbers = st.sampled_from(
    ["nan", "inf", "-inf", "0", "-0.0", "1e5", "+1", ".5", "5.", "1E-3", "1e60", "x", "1,5", "--1"]
)
letters = st.sampled_from(list("ab\"'#,\\\t1.-é\u00a0\u2028я\ufeff\x00"))
words = st.text(letters, min_size=1, max_size=4) | st.sampled_from(["nan", "NA", "null", '"', ". .", "a b", "1", ""])
fields = st.lists(numbers | numbers | odd_numbers, min_size=WIDTH, max_size=WIDTH) | st.lists(
    numbers, max_size=WIDTH + 2
)
line = st.tuples(words, fields).map(lambda pair: " ".join([pair[0], *pair[1]]).encode())
bad_line = st.sampled_from(
    [b"", b"  ", b"\xff 1 2 3", b"\xd0 1 2 3", b"a\r 1 2 3", b"w 1 2 3 ", b"w  1 2 3", b"w 1  2 3"]
)
files = st.lists(line | line | line | bad_line, min_size=1, max_size=12)


def reference(lines):
    """(word, row) kept and (line number, kind) refused, by the rules of docs/reference/formats.md, one by one."""
    kept, refused = {}, []
    for number, raw in enumerate(lines, 2):
        if raw.strip(b" "):
            found = judge(raw.rstrip(b" ").split(b" "), kept)
            if isinstance(found, str):
                refused.append((number, found))
            else:
                kept[found[0]] = found[1]
    return kept, refused


def judge(fields, kept):
    if len(fields) < WIDTH + 1:
        return "wrong_width"
    head, tail = fields[:-WIDTH], fields[-WIDTH:]
    word = b" ".join(head).strip(b" ")
    if not word:
        return "empty_word"
    if b" " in word and is_number(word.split(b" ")[-1]):
        return "wrong_width"
    try:
        word = word.decode()
    except UnicodeDecodeError:
        return "undecodable"
    if not all(map(is_number, tail)):
        return "not_a_number"
    with np.errstate(over="ignore"):
        row = np.array([float(field) for field in tail]).astype(np.float32)
    if not np.isfinite(row).all():
        return "not_finite"
    if not row.any():
        return "zero"
    return "duplicate" if word in kept else (word, row.tolist())


def is_number(field):
    try:
        float(field)
    except ValueError:
        return False
    return not field.startswith(b"\t") and not field.endswith(b"\t")


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=files, chunk=st.sampled_from([40, 100, 1 << 20]))
def test_any_file_reads_as_the_reference_says(tmp_path, lines, chunk):
    path = tmp_path / "table.vec"
    # The layout is found in the first chunk: what stands first is in order and fills the smallest of them.
    lines = [b"first 1 2 3", b"second 4 5 6", b"third 3 2 1", *lines, b"last 7 8 9", b"end 1 1 1"] + [
        b"w%d 1 1 1" % i for i in range(20)
    ]
    path.write_bytes(b"%d 3\n" % len(lines) + b"\n".join(lines) + b"\n")
    kept, refused = reference(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CHUNK_BYTES", chunk)
        patch.setattr("bilex.io.words_and_rows.MAX_BAD_COUNT", 1000)
        patch.setattr("bilex.io.report.MAX_EXAMPLES", 1000)
        contents = read_text(path)
    assert dict(zip(contents.words, contents.rows.tolist(), strict=True)) == kept
    found = [(e.line, r.kind) for r in contents.report.repairs for e in r.examples if r.kind != "header"]
    assert sorted(found) == refused


@settings(deadline=None, max_examples=300)
@given(lines=st.lists(line, min_size=1, max_size=6))
def test_fast_and_slow_agree_wherever_the_fast_way_answers(lines):
    data = b"\n".join(lines) + b"\n"
    fast, slow = parse_fast(data, 1, WIDTH, "utf-8"), parse_line_by_line(data, 1, WIDTH, "utf-8")
    if fast is not None:
        assert slow.faults == []
        assert (fast.words, list(fast.lines)) == (slow.words, list(slow.lines))
        assert fast.rows.tobytes() == slow.rows.tobytes()


def test_fast_way_is_taken_for_a_file_in_order():
    assert parse_fast(b'" 1 2 3\nnan 4 5 6\n', 1, 3, "utf-8").words == ['"', "nan"]


@pytest.mark.parametrize(
    "data", [b"a\r 1 2 3\n", b"\xef\xbb\xbfa 1 2 3\n", b"a 1 2\n", b"a b 1 2 3\n", b"\n", b" 1 2 3\n"]
)
def test_fast_way_leaves_what_is_unusual(data):
    assert parse_fast(data, 1, 3, "utf-8") is None


def test_polars_never_sees_a_line_with_too_many_fields(monkeypatch):
    """One of megabytes would take gigabytes."""
    monkeypatch.setattr("bilex.io.lines.read_frame", None)
    assert parse_fast(b"a 1 2 3\nb" + b" 1" * 10_000 + b"\n", 1, 3, "utf-8") is None


@pytest.mark.parametrize("parse", [parse_fast, parse_line_by_line])
def test_numbers_are_rounded_once(parse):
    """Just above the midpoint of two float32: by way of float64 it would be rounded down."""
    row = parse(b"a 1.00000005960464477540 1 1\n", 1, 3, "utf-8").rows[0]
    assert row[0] == np.nextafter(np.float32(1), np.float32(2))
