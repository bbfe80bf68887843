import pytest

from bilex.bench.report.metrics import MAIN, METRICS
from bilex.bench.report.ordered_results import read_grid
from bilex.errors import ResultsError


def test_systems_and_directions_are_in_the_order_of_the_suite(mixed):
    assert [system.label for system in mixed.systems] == ["procrustes", "vecmap", "rapo", "adversarial"]
    assert mixed.directions == ("en-fr", "en-fi")
    assert mixed.notes == ("Nothing here was measured.",)
    assert mixed.remarks == ()


def test_mean_and_standard_deviation_over_seeds(mixed):
    spot = mixed.system("rapo").at("en-fr")
    assert spot.values(MAIN) == [75, 77.5, 80]
    assert (spot.mean(MAIN), spot.spread(MAIN)) == (77.5, 2.5)
    assert mixed.system("vecmap").at("en-fr").spread(MAIN) is None


def test_a_mean_over_directions_needs_all_of_them_complete(mixed):
    assert mixed.system("procrustes").mean(MAIN, mixed.directions) == (25 + 50) / 2
    assert mixed.system("adversarial").mean(MAIN, mixed.directions) is None
    assert mixed.system("adversarial").mean(MAIN, ["en-fr"]) is None
    assert mixed.system("adversarial").at("en-fr").mean(MAIN) == 27.5


def test_right_is_a_share_of_the_seeds(mixed):
    right = mixed.system("rapo").at("en-fr").right()
    assert right.tolist() == [1.0] * 30 + [2 / 3, 1 / 3] + [0.0] * 8


def test_metrics_of_a_cell(cell):
    made = cell(right=range(10))
    assert METRICS["p_at_1"].of(made) == 25
    assert METRICS["p_at_5"].of(made) == 100
    assert METRICS["p_at_1_all"].of(made) == 20
    assert METRICS["coverage"].of(made) == 80
    assert METRICS["seconds"].of(made) == 2.5


def test_what_tells_rows_apart_is_in_their_labels(cell, grid_of):
    grid = grid_of(
        cell("rapo"), cell("rapo", pairs=100), cell("rapo", pairs=1000), cell("geomm"), cell("geomm", protocol="paper")
    )
    labels = [system.label for system in grid.systems]
    assert labels == ["geomm", "geomm (chosen on test)", "rapo, 100 pairs", "rapo, 1000 pairs", "rapo, all pairs"]


def test_how_much_of_the_dictionary_was_given(cell, grid_of):
    grid = grid_of(cell("a", train=0), cell("b", pairs=100), cell("c"))
    assert [system.given for system in grid.systems] == [0, 100, float("inf")]


def test_the_newest_of_several_results_counts(cell, grid_of):
    old = cell("rapo", right=range(1), made_at="2026-01-01T00:00:00+00:00", key="old")
    new = cell("rapo", right=range(20), made_at="2026-01-02T00:00:00+00:00", key="new")
    grid = grid_of(new, old)
    assert grid.system("rapo").at("en-fr").values(MAIN) == [50]
    assert "1 older" in grid.remarks[0]


def test_what_is_missing_or_cannot_be_compared_is_remarked(cell, grid_of):
    grid = grid_of(
        cell("rapo"), cell("geomm", words=30), systems=[{"label": "rapo"}, {"label": "later"}], directions=["en-fr"]
    )
    assert "no results yet: later" in grid.remarks[0]
    assert "en-fr: not all systems were tested on the same words" in grid.remarks[1]


def test_words_that_were_trained_on_are_remarked(cell, grid_of):
    made = cell("rapo")
    flattered = cell("geomm", scores={**made.scores, "train_overlap": 3})
    assert grid_of(made).remarks == ()
    assert "en-fr: test words were also in train or dev" in grid_of(made, flattered).remarks[0]
    on_test = cell("rapo", protocol="paper", scores={**made.scores, "train_overlap": 3})
    assert grid_of(made, on_test).remarks == ()


def test_missing_runs_are_counted(cell, grid_of):
    plan = {"label": "rapo", "directions": ["en-fr", "en-fi"], "rng_seeds": [0, 1]}
    grid = grid_of(cell("rapo"), systems=[plan], directions=["en-fr", "en-fi"])
    assert "Runs of the suite that are still missing: rapo (3)." in grid.remarks
    assert grid_of(cell("rapo"), systems=[{**plan, "directions": ["en-fr"], "rng_seeds": [0]}]).remarks == ()


def test_an_unknown_system(mixed):
    with pytest.raises(
        ResultsError, match=r"no system 'rap' in these results \(did you mean 'rapo'\?\); systems: procrustes; vecmap"
    ):
        mixed.system("rap")


def test_a_folder_without_its_suite_is_in_alphabetical_order(folder):
    (folder / "suite.json").unlink()
    grid = read_grid(folder)
    assert [system.label for system in grid.systems] == ["adversarial", "procrustes", "rapo", "vecmap"]
    assert grid.title == "made-up"


def test_folders_that_are_none(tmp_path, folder):
    with pytest.raises(ResultsError, match="not a folder of results"):
        read_grid(tmp_path / "absent")
    (tmp_path / "empty" / "cells").mkdir(parents=True)
    with pytest.raises(ResultsError, match="no results yet"):
        read_grid(tmp_path / "empty")
    (folder / "suite.json").write_text("[]")
    with pytest.raises(ResultsError, match=r"suite\.json"):
        read_grid(folder)
    (folder / "cells" / "0.json").write_text("{")
    with pytest.raises(ResultsError, match=r"0\.json: cannot be read"):
        read_grid(folder)
