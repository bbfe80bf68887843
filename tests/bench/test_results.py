import json

import pytest

from bilex.bench.cell import run_task
from bilex.bench.results import ResultsError, read, read_cell, read_suite, write_cell


@pytest.fixture
def cell(make_task, tmp_path):
    return run_task(make_task('[[systems]]\nmethod = "procrustes"\n'), tmp_path)


def test_a_result_comes_back_as_it_was(cell, tmp_path):
    write_cell(tmp_path / "cells" / "x.json", cell)
    assert read(tmp_path) == [read_cell(tmp_path / "cells" / "x.json")]
    assert read(tmp_path)[0].ranks == cell.ranks
    assert read(tmp_path)[0].scores == cell.scores


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a result that this version"),
        ({"version": 2}, "not a result that this version"),
        ({"status": "odd"}, "status is 'odd'; needed one of done, failed, error"),
        ({"scores": None}, "it has no scores although its status is done"),
    ],
)
def test_results_that_cannot_be_used(cell, tmp_path, change, message):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**cell.to_json(), **change}))
    with pytest.raises(ResultsError, match=message):
        read_cell(path)


def test_damaged_files(cell, tmp_path):
    path = tmp_path / "x.json"
    for text, message in (("{", "cannot be read"), ("[]", "it is not a JSON object")):
        path.write_text(text)
        with pytest.raises(ResultsError, match=message):
            read_cell(path)
    found = cell.to_json()
    del found["ranks"], found["key"]
    path.write_text(json.dumps(found))
    with pytest.raises(ResultsError, match="it has no key, ranks"):
        read_cell(path)


def test_folders_without_results(tmp_path):
    with pytest.raises(ResultsError, match="no cells/"):
        read(tmp_path)
    with pytest.raises(ResultsError, match=r"no suite\.json"):
        read_suite(tmp_path)
    (tmp_path / "cells").mkdir()
    with pytest.raises(ResultsError, match="there are no results yet"):
        read(tmp_path)


def test_a_result_that_cannot_be_written(cell, tmp_path):
    (tmp_path / "cells").touch()
    with pytest.raises(ResultsError, match="cannot be written"):
        write_cell(tmp_path / "cells" / "x.json", cell)
