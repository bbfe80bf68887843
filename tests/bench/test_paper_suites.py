"""Every suite of the paper, from fetching the files of MUSE to the report: small files with their names, on a mirror.

The settings are those of the suites, except the numbers that make them slow.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bilex.bench.report.report import make_report, write
from bilex.bench.results import read_cell, write_cell
from bilex.bench.runner import run
from bilex.bench.suite import Suite
from bilex.data.catalog import get_collection
from bilex.data.fetch import fetch

WORDS, DIM, TRAIN = 120, 12, 80
ADVERSARIAL = {"steps": "3", "epochs": "1", "adversary.hidden": "8", "min_agreement": "0", "refinement.rounds": "1"}
TRANSPORT = {"steps": "2", "samples": "1", "sample": "20", "epochs": "2"}
QUICK = {
    "adversarial": ADVERSARIAL,
    "adversarial_autoencoder": {**ADVERSARIAL, "rounds": "1", "code": "8"},
    "bliss": {"steps": "2", "epochs": "1", "adversary.hidden": "8"},
    "css": TRANSPORT,
    "pss": TRANSPORT,
    "lnmap": {"samples": "64", "autoencoder_epochs": "1", "iterations": "1", "epochs": "1", "hidden": "8", "code": "6"},
    "rapo": {"epochs": "1"},
    "rapo_semi": {"base.epochs": "1", "rounds": "1", "initial.patience": "1"},
    "vecmap_unsupervised": {"patience": "1", "min_agreement": "0"},
}
"""Smaller numbers by method."""
SUITES = {
    "paper-table-1": {"directions": ["en-es"]},
    "paper-table-2": {"directions": ["en-tr"]},
    "paper-table-3": {"directions": ["en-he"]},
    "paper-table-4": {"directions": ["it-en"]},
    "paper-table-5": {"directions": ["en-ru"]},
    "paper-figure-3": {"directions": ["en-zh"], "systems": ["rapo, *hard=*", "rapo_semi, *tau_source=0.[5-7]"]},
    "paper-search": {"directions": ["en-fa"], "systems": ["trial [0-3]"]},
}
"""What is run of each suite."""


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """The files of MUSE under their published paths: each language a rotation of the same words, with noise."""
    folder, generator = tmp_path_factory.mktemp("mirror"), np.random.default_rng(0)
    meanings = generator.standard_normal((WORDS, DIM)) * np.linspace(2, 0.5, DIM)
    for item in get_collection("muse").items(["rich", "low"]):
        path = folder / item.url.removeprefix("https://dl.fbaipublicfiles.com/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if item.kind == "vectors":
            path.write_text(_vectors(item.file.split(".")[1], meanings, generator), encoding="utf-8")
        else:
            source, target = item.file.split(".")[0].split("-")
            part = range(TRAIN) if "0-5000" in item.file else range(TRAIN, WORDS)
            path.write_text("".join(f"{source}{i} {target}{i}\n" for i in part), encoding="utf-8")
    return folder


def _vectors(language, meanings, generator):
    """A table in the text format of fastText."""
    rotation = np.linalg.qr(generator.standard_normal((DIM, DIM))).Q
    rows = (meanings + 0.2 * generator.standard_normal(meanings.shape)) @ rotation
    lines = (f"{language}{i} " + " ".join(f"{value:.5f}" for value in row) for i, row in enumerate(rows))
    return f"{WORDS} {DIM}\n" + "".join(f"{line}\n" for line in lines)


@pytest.fixture(scope="module")
def fetched(mirror, tmp_path_factory):
    """The data folder, after `bilex data fetch muse rich low`."""
    folder = tmp_path_factory.mktemp("data")
    fetch(get_collection("muse").items(["rich", "low"]), folder=folder, mirror=str(mirror))
    return folder


def quick(suite):
    """The suite with smaller numbers."""
    systems = (replace(s, settings={**s.settings, **QUICK.get(s.method, {})}) for s in suite.systems)
    return replace(suite, systems=tuple(systems))


def with_settings_of_the_suite(folder, planned, suite):
    """Let the report believe that the numbers were those of the suite."""
    settings = {system.label: system.settings for system in suite.systems}
    for cell in planned:
        path = folder / "cells" / f"{cell.name}.json"
        write_cell(path, replace(read_cell(path), settings=settings[cell.system.label]))


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.usefixtures("here")
def test_from_the_files_to_the_report(name, fetched, tmp_path, monkeypatch):
    monkeypatch.setenv("BILEX_DATA", str(fetched))
    suite, chosen = quick(Suite.read(name)), SUITES[name]
    planned = suite.cells(rng_seeds=[0], **chosen)
    cells = run(suite, tmp_path / "results", cells=planned)
    with_settings_of_the_suite(tmp_path / "results", planned, Suite.read(name))
    assert [cell.error for cell in cells if cell.status == "error"] == []
    done = [cell for cell in cells if cell.done]
    assert len(done) > 0.8 * len(cells)
    report = make_report(tmp_path / "results")
    text = report.text("markdown")
    (direction,) = chosen["directions"]
    assert f"| P@1 | {direction} | mean |" in text
    assert "other vectors" not in text
    made = write(report, tmp_path / "report", ["markdown", "latex", "csv", "html"], plots=False)
    assert all(path.stat().st_size for path in made)
    check = globals().get(f"check_{name.replace('-', '_')}")
    if check is not None:
        check(text, report)


def check_paper_table_1(text, report):
    """The published rows of en-es are beside the measured ones."""
    lines = [line for line in text.splitlines() if line.startswith("| *published*")]
    assert len(lines) == 14
    assert sorted(float(line.split("*")[3]) for line in lines) == sorted(
        [81.7, 82.3, 82.7, 82.9, 81.9, 84.1, 81.9, 84.1, 84.3, 80.5, 84.5, 83.7, 82.4, 84.5]
    )
    assert "measured with the same vectors" in text


def check_paper_table_2(text, report):
    assert sum(line.startswith("| *published*") for line in text.splitlines()) == 13
    assert "chosen on test" in text


def check_paper_search(text, report):
    assert "Trials of a search" in text
    assert "| en-fa | 4 | trial " in text


def check_paper_figure_3(text, report):
    """Curves with those of the paper beside them."""
    from bilex.bench.report.curves import charts

    titles = {chart.title: chart for chart in charts(report.grid)}
    for title in ("rapo: hard", "rapo_semi: base.tau_source"):
        assert [panel for panel, _ in titles[title].panels] == ["here", "published"]


def test_a_file_that_was_not_fetched_is_named(fetched, tmp_path, monkeypatch, mirror):
    from bilex.bench.needs import missing_files

    data = tmp_path / "data"
    fetch(get_collection("muse").items("en-zh"), folder=data, mirror=str(mirror))
    monkeypatch.setenv("BILEX_DATA", str(data))
    lines = missing_files(Suite.read("paper-figure-3").cells())
    assert [line.rpartition("/")[2] for line in lines[:-1]] == [
        f"{name}: there is no such file" for name in ("wiki.tr.vec", "en-tr.0-5000.txt", "en-tr.5000-6500.txt")
    ]
    assert lines[-1] == "fetch them with bilex data fetch muse en-tr"
