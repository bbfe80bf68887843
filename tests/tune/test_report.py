import csv
import sys
from dataclasses import replace
from functools import partial

import pytest

from bilex import get_method
from bilex.errors import MissingExtraError
from bilex.settings.file import read_settings
from bilex.tune import plots, report
from bilex.tune.search import Budget, judge, search
from bilex.tune.space import Space
from bilex.tune.study import Study


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path / "study.journal", Space.of("rcsls", {"k": "5"}), kind="random", rng_seed=0)


def test_the_best_settings_make_the_method(study, invented, tmp_path):
    verdict = search(study, Budget(trials=6), invented)
    report.write_report(tmp_path, study.space, verdict, study.outcomes)
    found = read_settings(tmp_path / "best.toml")
    assert found.method == "rcsls"
    assert found.settings == {"k": "5", **verdict.chosen.settings}
    assert get_method(*found).k == 5
    text = (tmp_path / "best.toml").read_text()
    assert text.startswith("# Chosen by `bilex tune` from 6 trials, by MRR on 2 dev words.\n# Defaults: MRR ")


def test_what_is_said_of_the_defaults(study, invented):
    outcomes = [replace(outcome, ranks=(2, 2), mrr=0.5) for outcome in invented(study.ask(3))]
    assert "No trial was better. These are the default settings." in report.comments(judge(outcomes), 3)
    outcomes[1] = replace(outcomes[1], ranks=(1, 3), mrr=2 / 3)
    assert "These are the default settings." in report.comments(judge(outcomes), 3)[-1]
    outcomes[1] = replace(outcomes[1], ranks=(1, 1), mrr=1.0)
    assert report.comments(judge(outcomes), 3)[-1].startswith("Trial 1: MRR 1.0000")
    found = report.to_json("out", study.space, judge(outcomes), outcomes)
    assert (found["defaults_stand"], found["best"]["trial"], found["gain"]) == (False, 1, 0.5)
    assert found["trials"] == {"all": 3, "done": 3, "stopped": 0, "failed": 0}


def test_all_trials_are_listed(study, invented, tmp_path):
    outcomes = list(invented(study.ask(3)))
    outcomes[2] = replace(outcomes[2], state="failed", error='no, "never"', mrr=None, p_at_1=None)
    report.write_report(tmp_path, study.space, judge(outcomes), outcomes)
    with (tmp_path / "trials.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["state"] for row in rows] == ["done", "done", "failed"]
    assert (rows[2]["error"], rows[2]["dev_mrr"]) == ('no, "never"', "")
    assert {name: rows[0][name] for name in study.space.searched} == outcomes[0].settings


def test_a_spreadsheet_computes_nothing(study, invented, tmp_path):
    (outcome,) = invented(study.ask(1))
    report.write_report(
        tmp_path, study.space, judge([outcome]), [outcome, replace(outcome, error="=cmd|' /C calc'!A0")]
    )
    assert "'=cmd|' /C calc'!A0" in (tmp_path / "trials.csv").read_text(encoding="utf-8")


class TestPlots:
    def test_the_same_bytes_from_the_same_trials(self, study, invented, tmp_path):
        search(study, Budget(trials=plots.MIN_TRIALS), invented)
        drawn = plots.draw(tmp_path, study)
        assert [path.name for path in drawn] == ["history.svg", "importance.svg"]
        before = [path.read_bytes() for path in drawn]
        assert b"learning_rate" in before[1]
        assert [path.read_bytes() for path in plots.draw(tmp_path, study)] == before

    def test_few_trials_do_not_tell_what_matters(self, study, invented, tmp_path):
        search(study, Budget(trials=3), invented)
        assert [path.name for path in plots.draw(tmp_path, study)] == ["history.svg"]

    def test_shares(self, study, invented):
        search(study, Budget(trials=plots.MIN_TRIALS), partial(invented, seconds=1.0))
        found = plots.importances(study)
        assert set(found) == set(study.space.searched)
        assert sum(found.values()) == pytest.approx(1)

    def test_without_matplotlib(self, study, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'bilex\[plots\]'"):
            plots.draw(tmp_path, study)
