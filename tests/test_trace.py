import json

from bilex.trace import Trace

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
