"""bilex bench report, as a command."""

import csv
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from bilex.bench.report.metrics import METRICS
from bilex.bench.report.report import FORMATS
from bilex.cli import bench_report, cli
from bilex.errors import BilexError


@pytest.fixture
def report():
    """Run the command; an error of ours is raised, as `main` would catch it."""

    def run(*args, code=0):
        result = CliRunner().invoke(cli, ["bench", "report", *(str(arg) for arg in args)])
        if isinstance(result.exception, BilexError):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return run


def test_markdown_on_stdout(report, folder):
    result = report(folder)
    assert result.stdout.startswith("# A made-up suite\n\nNothing here was measured.\n\n- 4 systems on 2 directions")
    for title in (
        "P@1, over the covered",
        "P@1, all",
        "Against the best peer",
        "Time and memory",
        "Runs without a result",
    ):
        assert f"## {title}" in result.stdout
    assert result.stderr == ""


def test_the_same_folder_gives_the_same_report(report, folder):
    assert report(folder).stdout == report(folder).stdout


def test_metrics_and_named_systems_can_be_chosen(report, folder):
    text = report(folder, "--metric", "mrr", "--metric", "seconds", "--named", "vecmap").stdout
    assert "## MRR" in text
    assert "## seconds" in text
    assert "## P@1" not in text
    assert "| vecmap | rapo | en-fr |" in text


def test_published_figures_can_be_left_out(report, folder):
    assert "published" in report(folder).stdout
    assert "published" not in report(folder, "--no-published").stdout


@pytest.mark.parametrize("kind", ["latex", "csv"])
def test_other_formats_on_stdout(report, folder, kind):
    text = report(folder, "--format", kind).stdout
    assert text.startswith("% Needs" if kind == "latex" else "system,method,pairs")


def test_compare(report, folder):
    text = report(folder, "--compare", "rapo,procrustes").stdout
    assert "| rapo | procrustes | en-fr | 77.50 | 25.00 | +52.50‡ |" in text


def test_compare_labels_with_commas(report, folder_of, cell):
    folder = folder_of(cell("rapo, 100 pairs", pairs=100, right=range(9)), cell("rapo, 50 pairs", pairs=50))
    assert (
        "| rapo, 100 pairs | rapo, 50 pairs |" in report(folder, "--compare", "rapo, 100 pairs,rapo, 50 pairs").stdout
    )


def test_json(report, folder):
    found = json.loads(report(folder, "--json", "--compare", "rapo,vecmap").stdout)
    assert found["directions"] == ["en-fr", "en-fi"]
    rapo = next(system for system in found["systems"] if system["label"] == "rapo")
    assert rapo["directions"]["en-fr"]["p_at_1"] == [75, 77.5, 80]
    assert found["comparisons"][0]["difference"] == pytest.approx(47.5)
    assert found["margins"][0]["tests"]["0"] == {"wins": 18, "losses": 0, "p_value": pytest.approx(2**-17)}
    assert found["written"] == []


def test_files(report, folder, tmp_path):
    out = tmp_path / "a" / "out"
    result = report(folder, "--output", out, *(part for kind in FORMATS for part in ("--format", kind)))
    assert result.stdout == ""
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert {"report.md", "report.tex", "report.html", "scores.csv", "margins.csv", "plots/cost.svg"} <= names
    assert result.stderr.count("written: ") == len(names)
    with (out / "margins.csv").open(encoding="utf-8", newline="") as file:
        assert [row["difference"] for row in csv.DictReader(file)] == ["+47.50", "-2.50"]
    before = (out / "report.html").read_bytes()
    with pytest.raises(BilexError, match=r"report\.md exists already.*`force=True`"):
        report(folder, "--output", out)
    report(folder, "--output", out, "--format", "html", "--force")
    assert (out / "report.html").read_bytes() == before


def test_incomplete_folders(report, folder_of, cell):
    folder = folder_of(
        cell("rapo", right=range(9)), suite={"systems": ["rapo", "geomm"], "directions": ["en-fr", "en-fi"]}
    )
    text = report(folder).stdout
    assert "these have no results yet: geomm" in text
    assert "these have no results yet: en-fi" in text
    assert "| rapo | 22.50 | 22.50 |" in text


def test_only_failures(report, folder_of, cell, tmp_path):
    folder = folder_of(cell("rapo", status="failed", error="it did not converge"))
    text = report(folder).stdout
    assert "| rapo | failed | - |" in text
    assert "it did not converge" in text
    report(folder, "--format", "html", "--output", tmp_path / "out")


def test_mistakes(report, folder, tmp_path):
    with pytest.raises(BilexError, match="not a folder of results"):
        report(tmp_path / "absent")
    with pytest.raises(BilexError, match="no system 'rap'"):
        report(folder, "--compare", "rap,vecmap")
    assert "two labels" in report(folder, "--compare", "rapo", code=2).stderr
    assert "--output" in report(folder, "--format", "html", code=2).stderr
    assert "--output" in report(folder, "--format", "markdown", "--format", "csv", code=2).stderr
    assert "--metric" in report(folder, "--metric", "accuracy", code=2).stderr
    (tmp_path / "file").write_text("x")
    with pytest.raises(BilexError, match="cannot be written"):
        report(folder, "--output", tmp_path / "file")


def test_without_matplotlib(report, folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BilexError, match=r"bilex\[plots\]"):
        report(folder, "--format", "html", "--output", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    report(folder, "--format", "html", "--no-plots", "--output", tmp_path / "out")
    assert "<svg" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_choices_are_those_of_the_package():
    assert tuple(METRICS) == bench_report.METRICS
    assert FORMATS == bench_report.FORMATS


def test_the_help_imports_nothing_heavy():
    heavy = {"numpy", "scipy", "matplotlib", "torch"}
    code = f"import sys, bilex.cli.bench_report; raise SystemExit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
