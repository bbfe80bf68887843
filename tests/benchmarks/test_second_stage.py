import json

import numpy as np
import pytest

import second_stage
from bilex.rerank.reranker import Ranked


def ranked(confidences):
    confidences = np.array(confidences)
    places = np.broadcast_to(np.arange(confidences.shape[1]), confidences.shape)
    return Ranked(places, -places.astype(float), confidences, places)


def test_several_translations_by_hand():
    right = np.array([[True, True, False], [False, True, False]])
    found = second_stage.several(ranked([[0.9, 0.6, 0.1], [0.2, 0.1, 0.1]]), right, np.array([3, 1]), 0.5)
    assert (found["precision"], found["recall"], found["f1"]) == (2 / 3, 2 / 4, 4 / 7)
    assert (found["best_fixed"], found["best_fixed_f1"]) == (2, 2 * 3 / (4 + 4))


def test_measures_an_alignment(reranked, alike):
    found = json.loads(json.dumps(second_stage.measure(reranked, alike.test), default=float))
    evaluation = reranked.evaluate(alike.test)
    assert found["p_at_1"] == pytest.approx(evaluation.scores.p_at_1)
    assert found["vectors_only"] == pytest.approx(evaluation.vectors_only.scores.p_at_1)
    assert found["calibration_error"] == pytest.approx(evaluation.calibration_error)
    assert found["wins"] - found["losses"] == round((found["p_at_1"] - found["vectors_only"]) * len(alike.test) / 100)
    assert [part["n"] for part in found["any_right"]] == [1, 5, 20]
    assert found["any_right"][0]["right"] == pytest.approx(found["p_at_1"])
    assert found["any_right"][2]["right"] == pytest.approx(found["recall"])
    assert all(part["probability"] == pytest.approx(part["right"], abs=15) for part in found["any_right"])
    assert sum(band["words"] for band in found["bands"]) == found["words"] == len(alike.test)
    assert all(set(error) == {"word", "found", "confidence", "gold", "rank"} for error in found["errors"])


def test_chance_leaves_some_error_of_right_probabilities():
    few, many = (second_stage.by_chance(np.random.default_rng(0).random(n)) for n in (200, 20_000))
    assert 0.05 < few < 0.15
    assert many < 0.015
    assert second_stage.by_chance(np.ones(50)) == 0


def test_table_of_all_records(capsys):
    test = {
        "p_at_1": 70.0,
        "vectors_only": 60.0,
        "recall": 90.0,
        "wins": 9,
        "losses": 2,
        "calibration_error": 0.03,
        "calibration_error_by_chance": 0.02,
        "any_right": [{"calibration_error": 0.03}, {"calibration_error": 0.04}, {"calibration_error": 0.05}],
        "expected_precision": [{"precision": 0.8}, {"precision": 0.9}, {"precision": 0.95}],
        "several": {"f1": 0.7, "best_fixed_f1": 0.6},
    }
    record = {"system": "geomm", "direction": "en-fr", "seconds": {"align_cpu": 4, "second_stage_cpu": 8}}
    without = {**record, "direction": "en-fi", "second_stage": None, "test": {"vectors_only": 50.0}}
    second_stage.print_table([{**record, "second_stage": {}, "test": test}, without])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith(
        "| geomm | en-fr | 60.00 | 70.00 | +10.00 | 90.0 | 9 : 2 | 0.030 (0.020) | 0.040 | 0.900 | 0.700 | 0.600 |"
    )
    assert lines[3].startswith("| geomm | en-fi | 50.00 |")
