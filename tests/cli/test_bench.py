import json
import sys
from types import SimpleNamespace

import pytest

from bilex.cli.bench import _outcome
from bilex.errors import LexiconError

SUITE = """
title = "Small"

[directions.s-t]
source = { file = "x.vec" }
target = { file = "z.vec" }
train = { file = "train.tsv" }
test = { file = "test.tsv" }

[[systems]]
method = "procrustes"

[[systems]]
label = "ridge, weak"
method = "ridge"
rng_seeds = [0, 1]
"""


@pytest.fixture
def suite(files, tmp_path, monkeypatch):
    """A suite of three cells, which run in this process."""
    monkeypatch.setenv("BILEX_DATA", str(tmp_path / "data"))
    path = tmp_path / "small.toml"
    path.write_text(SUITE.replace('file = "', f'file = "{files}/'), encoding="utf-8")

    def run(tasks, folder, *, jobs):
        from bilex.bench.cell import run_task

        for task in tasks:
            yield task, run_task(task, folder)

    monkeypatch.setattr("bilex.bench.runner.run_side_by_side", run)
    return path


def test_a_suite_is_run_and_summed_up(bilex, suite, tmp_path):
    result = bilex("bench", "run", suite, "--output", tmp_path / "results")
    assert result.code == 0
    header, first, second = (line.split() for line in result.out.splitlines())
    assert header == ["P@1", "s-t"]
    assert (first[0], second[:2]) == ("procrustes", ["ridge,", "weak"])
    assert float(first[1]) > 50
    assert "1/3  procrustes.s-t.0: P@1 " in result.err
    assert "; a few seconds for the other 2, up to " in result.err
    assert " GB each" in result.err
    assert f"next: bilex bench report {tmp_path / 'results'}" in result.err


@pytest.mark.parametrize(("seconds", "told"), [(None, "P@1 50.00"), (2, "P@1 50.00 in 2.0 s")])
def test_a_result_may_have_no_time(seconds, told):
    assert _outcome(SimpleNamespace(scores={"p_at_1": 50.0}, seconds=seconds)) == told


def test_json(bilex, suite, tmp_path):
    result = bilex(
        "bench", "run", suite, "--output", tmp_path / "r", "--systems", "ridge*", "--rng-seeds", "3", "--json"
    )
    (cell,) = result.json["cells"]
    assert result.json["suite"] == "small"
    assert (cell["name"], cell["status"], cell["rng_seed"]) == ("ridge-weak.s-t.3", "done", 3)
    assert cell["p_at_1"] > 50


def test_list_runs_nothing(bilex, suite, tmp_path):
    folder = tmp_path / "results"
    result = bilex("bench", "run", suite, "--output", folder, "--list", "--json")
    assert [(cell["system"], cell["rng_seed"], cell["status"]) for cell in result.json] == [
        ("procrustes", 0, None),
        ("ridge, weak", 0, None),
        ("ridge, weak", 1, None),
    ]
    assert not folder.exists()
    bilex("bench", "run", suite, "--output", folder, "--systems", "procrustes")
    result = bilex("bench", "run", suite, "--output", folder, "--dry-run")
    assert [line.split()[-3:] for line in result.out.splitlines()] == [
        ["to", "run", "seed"], ["done", "no", "0"], ["-", "yes", "0"], ["-", "yes", "1"],
    ]  # fmt: skip
    assert f"3 cells, 1 with a result in {folder}; 2 to run" in result.err


def test_list_tells_what_is_needed(bilex, suite, tmp_path):
    text = suite.read_text().replace("train.tsv", "gone.tsv") + '[[systems]]\nmethod = "css"\n'
    suite.write_text(text, encoding="utf-8")
    result = bilex("bench", "run", suite, "--output", tmp_path / "r", "--list")
    assert "needs the extra transport (installed): css" in result.err
    assert "gone.tsv: there is no such file; correct the path in the suite, or put the file there" in result.err


def test_list_tells_what_would_be_run_again(bilex, suite, tmp_path):
    folder = tmp_path / "results"

    def listed():
        return bilex("bench", "run", suite, "--output", folder, "--systems", "procrustes", "--list", "--json").json

    bilex("bench", "run", suite, "--output", folder, "--systems", "procrustes")
    assert [(cell["status"], cell["to_run"]) for cell in listed()] == [("done", False)]
    whole = suite.read_text()
    suite.write_text(whole.replace('method = "procrustes"', 'method = "procrustes"\nsettings = { normalize = "unit" }'))
    assert [(cell["status"], cell["to_run"]) for cell in listed()] == [("done", True)]
    suite.write_text(whole)
    for table in (tmp_path / "data" / "tables").iterdir():
        table.unlink()
    assert [(cell["status"], cell["to_run"]) for cell in listed()] == [("done", None)]
    result = bilex("bench", "run", suite, "--output", folder, "--list")
    assert "?: 1 results could not be checked" in result.err
    assert list((tmp_path / "data" / "tables").iterdir()) == [], "listing converts nothing"


def test_the_help_names_all_suites(bilex):
    from bilex.bench.suite_file import shipped

    text = bilex("bench", "run", "--help").out.replace(",", " ").replace(".", " ").split()
    assert set(shipped()) <= set(text)


def test_errors_are_told_and_tried_again(bilex, suite, tmp_path, monkeypatch):
    from bilex.fitting.fit import align

    def once(*args, **more):
        monkeypatch.setattr("bilex.fitting.fit.align", align)
        raise LexiconError("no pairs")

    monkeypatch.setattr("bilex.fitting.fit.align", once)
    command = ["bench", "run", suite, "--output", tmp_path / "results", "--systems", "procrustes"]
    result = bilex(*command)
    assert (result.code, result.out.split()) == (1, ["P@1", "s-t", "procrustes", "error"])
    assert "procrustes.s-t.0: error: no pairs" in result.err
    assert "to run them again, use the same command" in result.err
    assert bilex(*command).code == 0


def test_the_results_go_where_one_would_look(bilex, suite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bilex("bench", "run", suite, "--systems", "procrustes")
    assert json.loads((tmp_path / "bench-output" / "small" / "suite.json").read_text())["name"] == "small"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["opne"], 1, "there is no suite 'opne' (did you mean 'open'?)"),
        (["sample", "--systems", "procrustse"], 1, "has no system 'procrustse' (did you mean 'procrustes'?); it has: "),
        (["sample", "--directions", "en-f"], 1, "has no direction 'en-f' (did you mean 'en-fr'?); it has: "),
        (["sample", "--rng-seeds", "a"], 2, "needed whole numbers"),
        (["sample", "--jobs", "0"], 2, "0 is not in the range"),
        (["paper-table-2", "--directions", "en-et"], 1, "fetch it with bilex data fetch muse en-et"),
    ],
)
def test_mistakes_are_told(refused, args, code, message, tmp_path, monkeypatch):
    monkeypatch.setenv("BILEX_DATA", str(tmp_path))
    assert message in refused("bench", "run", *args, "--output", tmp_path / "results", code=code)


def test_a_cluster_needs_its_extra(refused, suite, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    message = refused("bench", "run", suite, "--output", tmp_path / "results", "--cluster", "local")
    assert "--cluster needs the package ray: pip install 'bilex[cluster]'" in message
