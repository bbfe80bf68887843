import argparse
import json
import math

import pytest

from measuring import Target, best_of, report


@pytest.mark.parametrize(
    ("target", "met"),
    [
        (Target("a", 1.2, at_most=1.2), True),
        (Target("a", 1.3, at_most=1.2), False),
        (Target("a", 3.0, at_least=3), True),
        (Target("a", 2.9, at_least=3), False),
        (Target("a", math.nan, at_least=3), False),
        (Target("a", math.nan, at_most=3), False),
    ],
)
def test_a_target_is_met_or_missed(target, met):
    assert target.met is met


@pytest.mark.parametrize("as_json", [True, False])
def test_a_report_tells_all_and_its_code_whether_a_target_is_missed(capsys, as_json):
    args = argparse.Namespace(json=as_json)
    good, bad = Target("good", 1.0, at_least=1), Target("bad", 2.0, at_most=1)
    assert report({"size": 3}, [good], args) == 0
    capsys.readouterr()
    assert report({"size": 3}, [good, bad], args) == 1
    out = capsys.readouterr().out
    if as_json:
        assert json.loads(out) == {"size": 3, "targets": [good.to_json(), bad.to_json()]}
    else:
        assert out.splitlines() == ["size  3", "good  1, wanted at least 1: met", "bad   2, wanted at most 1: MISSED"]


def test_runs_take_turns():
    order = []
    best = best_of(2, {"a": lambda: order.append("a"), "b": lambda: order.append("b")})
    assert order == ["a", "b", "a", "b"]
    assert list(best) == ["a", "b"]
