import json
import os
from dataclasses import replace

import pytest

from bilex.bench.results import read, read_suite, write_cell
from bilex.bench.runner import run
from bilex.bench.suite import Suite
from bilex.errors import LockError, SettingsError, SuiteError
from bilex.storage.lock import LOCK_FILE, exclusive_lock

DIRECTION = """
title = "One"

[directions.s-t]
source = { file = "x.safetensors" }
target = { file = "z.vec" }
train = { file = "train.tsv" }
test = { file = "test.tsv" }
"""
NAMES = ["procrustes.s-t.0", "ridge-weak.s-t.0", "procrustes.short.0"]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results"


def test_a_suite_is_run_once(small, folder, here):
    told = []
    cells = run(small, folder, tell=told.append)
    assert here == NAMES
    assert [(now.done, now.all, now.name) for now in told] == [(i + 1, 3, name) for i, name in enumerate(NAMES)]
    assert [cell.status for cell in cells] == ["done"] * 3
    assert sorted(path.name for path in (folder / "cells").iterdir()) == sorted(f"{name}.json" for name in NAMES)
    assert list((folder / "partial").iterdir()) == []
    assert {cell.made_at for cell in read(folder)} == {cell.made_at for cell in cells}
    assert run(small, folder, tell=told.append) == cells
    assert (len(here), len(told)) == (3, 3)


def test_cells_that_are_the_same_are_run_once(write, folder, here):
    vary = 'vary = { penalty = [0.1, 0.2], normalize = ["unit", "unit,center,unit"] }\n'
    systems = '[[systems]]\nmethod = "ridge"\nsettings = { penalty = 0.1 }\n' + vary
    told = []
    cells = run(Suite.read(write(DIRECTION + systems)), folder, tell=told.append)
    assert here == ["penalty=0.1.s-t.0", "penalty=0.2.s-t.0", "normalize=unit.s-t.0"]
    assert [cell.system for cell in cells] == [
        "penalty=0.1",
        "penalty=0.2",
        "normalize=unit",
        "normalize=unit,center,unit",
    ]
    assert cells[0].ranks == cells[3].ranks
    assert cells[3].settings == {"penalty": "0.1", "normalize": "unit,center,unit"}
    assert [(now.done, now.all, now.left.cells) for now in told] == [(2, 4, 2), (3, 4, 1), (4, 4, 0)]
    assert run(Suite.read(write(DIRECTION + systems)), folder) == cells
    assert len(here) == 3


def test_the_suite_as_run_is_beside_the_results(small, folder, here):
    run(small, folder, cells=small.cells(directions=["short"]))
    suite = read_suite(folder)
    assert (suite["name"], suite["title"], suite["protocol"]) == ("small", "Small", ["honest"])
    assert suite["directions"] == ["s-t", "short"]
    assert [system["label"] for system in suite["systems"]] == ["procrustes", "ridge, weak"]
    assert suite["inputs"]["short"]["target"] == "z.vec, first 120 words"


def test_a_result_has_what_reports_rely_on(small, folder, here):
    run(small, folder, cells=small.cells(systems=["ridge*"]))
    found = json.loads((folder / "cells" / "ridge-weak.s-t.0.json").read_text())
    assert (found["format"], found["version"], found["suite"], found["system"]) == (
        "bilex-cell",
        1,
        "small",
        "ridge, weak",
    )
    assert (found["method"], found["settings"], found["protocol"]) == ("ridge", {"penalty": "0.1"}, "honest")
    assert len(found["ranks"]) == len(found["rows"]) == found["scores"]["covered"]
    assert len(found["key"]) == len(found["words_sha256"]) == 64
    assert found["made_at"].endswith("+00:00")


def test_errors_and_other_keys_are_run_again_and_failures_are_not(small, folder, here):
    cells = run(small, folder)
    here.clear()
    for cell, name, more in zip(
        cells, NAMES, ({"status": "error"}, {"status": "failed", "scores": None}, {"key": "other"}), strict=True
    ):
        write_cell(folder / "cells" / f"{name}.json", replace(cell, **more))
    again = run(small, folder)
    assert here == [NAMES[0], NAMES[2]]
    assert [cell.status for cell in again] == ["done", "failed", "done"]


def test_a_damaged_result_is_made_again(small, folder, here):
    run(small, folder)
    here.clear()
    (folder / "cells" / f"{NAMES[1]}.json").write_text('{"format": "bil')
    run(small, folder)
    assert here == [NAMES[1]]


def test_after_an_error_the_rest_goes_on(small, folder, here, monkeypatch):
    from bilex.fitting.fit import align

    def once(*args, **more):
        monkeypatch.setattr("bilex.fitting.fit.align", align)
        raise RuntimeError("odd")

    monkeypatch.setattr("bilex.fitting.fit.align", once)
    assert [cell.status for cell in run(small, folder)] == ["error", "done", "done"]
    assert [path.name for path in (folder / "partial").iterdir()] == [NAMES[0]], "it may go on from there"


def test_an_interruption_leaves_whole_results_and_the_rest_goes_on(small, folder):
    """With real processes."""

    def interrupt(now):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(small, folder, jobs=2, tell=interrupt)
    (first,) = read(folder)
    assert [path.suffix for path in (folder / "cells").iterdir()] == [".json"]
    cells = run(small, folder, jobs=2)
    assert [cell.status for cell in cells] == ["done"] * 3
    assert first in cells


def test_two_runs_in_one_folder_are_refused(small, folder):
    with (
        exclusive_lock(folder / LOCK_FILE),
        pytest.raises(LockError, match=f"process {os.getpid()} .* is using this folder"),
    ):
        run(small, folder)


def test_a_folder_of_another_suite_is_refused(small, folder, here, write):
    run(small, folder, cells=small.cells(systems=["ridge*"]))
    with pytest.raises(SuiteError, match="of the suite small, but this is the suite sample; choose another folder"):
        run(Suite.read("sample"), folder)


def test_nothing_is_begun_where_data_are_missing(small, folder, tmp_path):
    (tmp_path / "test.tsv").unlink()
    with pytest.raises(SuiteError, match=r"test.tsv: there is no such file; correct the path in the suite"):
        run(small, folder)
    assert not folder.exists()


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"threads": -1}])
def test_numbers_are_checked(small, folder, wrong):
    with pytest.raises(SettingsError, match="needed a whole number of at least 1"):
        run(small, folder, **wrong)
