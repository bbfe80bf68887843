import json

import pytest

from bilex.training.trace import Trace

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


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_null(tmp_path, number):
    trace = Trace()
    trace(loss=number)
    trace.write(tmp_path / "trace.jsonl")
    assert (tmp_path / "trace.jsonl").read_text() == '{"loss": null}\n'
    assert Trace.read(tmp_path / "trace.jsonl").records == [{"loss": None}]


def test_a_part_of_longer_work():
    heard, seen = [], []
    trace = Trace(heard.append, watcher=lambda *told: seen.append(told))
    trace(start=True)
    part = trace.within(round=3)
    part(epoch=1)
    part.progress("searching")(1, 2)
    assert trace.records == part.records == heard == [{"start": True}, {"round": 3, "epoch": 1}]
    assert seen == [("round 3: searching", 0.5)]


def test_a_part_may_use_the_names_of_the_whole():
    trace = Trace()
    trace.within(round=1)(round=5, pairs=7)
    trace.within(round=1).within(round=2)(round=3)
    assert trace.records == [
        {"round": 1, "part.round": 5, "pairs": 7},
        {"round": 1, "part.round": 2, "part.part.round": 3},
    ]
