import argparse
import json

import pytest

import scaling
from measuring import read_lines

USUAL = {"words": 500, "dim": 300, "pairs": 5000, "threads": 2}


def record(method="rapo", **changes):
    measured = dict.fromkeys(scaling.MEASURED, 1.0)
    return {"method": method, "settings": [], **USUAL, "pairs_used": 5000, "p_at_1": 80.0, **measured, **changes}


def test_what_two_axes_share_is_measured_once():
    args = argparse.Namespace(
        methods="vecmap,rapo", axes="words,dim", words="100,500", dim="50,300", pairs="10", settings=["epochs=1"]
    )
    points = scaling.points(args, USUAL)
    assert [(p["method"], p["words"], p["dim"]) for p in points] == [
        (method, *size) for method in ("vecmap", "rapo") for size in ((100, 300), (500, 300), (500, 50))
    ]
    assert {(p["method"], *p["settings"]) for p in points} == {("vecmap",), ("rapo", "epochs=1")}


def test_a_point_is_added_as_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(scaling, "run_script", lambda *_: {"train_seconds": 2.0})
    output = tmp_path / "points.jsonl"
    for words in (1, 2):
        scaling.append_measurement(output, {"threads": 1, "words": words})
    assert [known["words"] for known in read_lines(output)] == [1, 2]
    assert json.loads(output.read_text().splitlines()[0])["train_seconds"] == 2.0
    assert list(tmp_path.iterdir()) == [output]


def test_the_best_of_several_counts():
    (found,) = scaling.best([record(train_seconds=3.0), record(train_seconds=2.0, evaluation_seconds=4.0)])
    assert (found["train_seconds"], found["evaluation_seconds"]) == (2.0, 1.0)


@pytest.mark.parametrize(("seconds", "met"), [(2.2, True), (2.5, False)])
def test_doubling_the_vocabulary(seconds, met):
    records = [record(words=100_000), record(words=200_000, train_seconds=seconds), record(words=200_000, dim=50)]
    figures, (target,) = scaling.summarize(records, USUAL)
    assert (target.value, target.met) == (seconds, met)
    assert figures["rapo: evaluation with twice the words"] == 1
    assert scaling.summarize(records[:1], USUAL)[1] == []


def test_plots_of_what_varies(tmp_path):
    records = [record(), record(words=1000), record(dim=50), record("vecmap", dim=50), record("vecmap")]
    scaling.draw(tmp_path, records, USUAL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scaling-dim.svg", "scaling-words.svg"]
    assert "vecmap" in (tmp_path / "scaling-dim.svg").read_text()
