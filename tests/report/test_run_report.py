import copy
import dataclasses
import json
import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest

from bilex import EmbeddingTable, Lexicon, align
from bilex.evaluation.significance import bootstrap
from bilex.report.citation import UNKNOWN, licences
from bilex.report.page import _bands, page
from bilex.report.run_report import make_run_report
from bilex.report.tables import coverage_table, settings_table
from bilex.report.training import training_charts


@pytest.fixture(scope="module")
def report(alignment, world):
    return make_run_report(alignment, world.test)


@pytest.fixture(scope="module")
def text(report):
    return page(report)


def test_figures_are_those_of_evaluate_with_a_bootstrap_interval(report, alignment, world):
    expected = alignment.evaluate(world.test)
    found = report.to_json()["figures"]["test"]
    assert found["csls"]["p_at_1"] == expected.scores.p_at_1
    ranks = np.array(list(expected.ranks.values()))
    assert list(found["csls"]["p_at_1_interval"].values()) == list(bootstrap(100.0 * (ranks <= 1)))
    assert found["csls"]["mrr_interval"]["low"] < expected.scores.mrr < found["csls"]["mrr_interval"]["high"]
    json.dumps(report.to_json())


def test_right_and_wrong_answers_are_so(report, world):
    gold = world.test.targets_of()
    assert report.right
    assert all(example.answers[0] in gold[example.word] and example.rank == 1 for example in report.right)
    assert report.wrong
    assert all(example.answers[0] not in gold[example.word] and example.rank > 1 for example in report.wrong)
    for shown in (report.right, report.wrong):
        rows = [world.source.words.index(example.word) for example in shown]
        assert rows == sorted(rows), "the most frequent first"
    scores = [example.score for example in report.gaps]
    assert scores == sorted(scores, reverse=True)


def test_a_wrong_entry_of_the_dictionary_is_found(exact, monkeypatch):
    monkeypatch.setattr("bilex.report.examples.DOUBTFUL_RANK", 20)
    source, target = exact.train.pairs[3]
    other = max(exact.train.pairs, key=lambda pair: abs(int(pair[1][1:]) - int(target[1:])))[1]
    train = Lexicon.from_pairs([*exact.train.pairs[:3], (source, other), *exact.train.pairs[4:]])
    made = align(exact.source, exact.target, train, method="procrustes")
    (found,) = make_run_report(made).doubtful
    assert (found.word, found.gold, found.answers[0]) == (source, (other,), target)


def test_the_page_is_well_formed_and_needs_nothing_else(text, world):
    ElementTree.fromstring(text)
    assert "http" not in text
    assert "<script" not in text
    assert not re.search(r"url\((?!#)", text)
    for title in ("Figures", "What was aligned", "Coverage", "Hubs", "Right answers", "Wrong answers", "How to cite"):
        assert f"<h2>{title}" in text
    assert "Schönemann (1966)" in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_without_a_test_dictionary_it_says_so(alignment):
    report = make_run_report(alignment)
    assert "No test dictionary was given" in report.sentences()[0]
    ElementTree.fromstring(page(report, plots=False))


@pytest.mark.parametrize("bands", [1, 2])
def test_frequent_and_rare_words_are_one_panel_without_a_title(bands):
    several = [SimpleNamespace(first=i, last=i + 9, scores=SimpleNamespace(p_at_1=50.0)) for i in range(bands)]
    measured = SimpleNamespace(bands=several)
    chart = _bands(SimpleNamespace(csls=measured, nearest=measured, part="test"))
    assert [title for title, _ in chart.panels] == [""] * (bands > 1), "nothing is drawn of a single band"


@pytest.mark.parametrize(
    ("missing", "shown"), [([], "-"), (["x"], "x"), (list("abcdefghijklm"), "a, b, c, d, e, f, g, h, i, j, k, l, ...")]
)
def test_some_of_the_missing_words_are_named(world, missing, shown):
    index = Lexicon.from_pairs([*world.test, *((word, "t1") for word in missing)]).index(world.source, world.target)
    (line,) = coverage_table({"test": index}).rows
    assert [entry.text for entry in line.entries[:2]] == ["test", shown]


def test_the_settings_and_the_seed_are_told(report):
    rows = [[entry.text for entry in line.entries] for line in settings_table(report.inputs).rows]
    assert [name for name, _ in rows] == [*report.inputs["settings"], "rng_seed"]
    assert rows[-1][1] == "0"


def test_letter_case_counts_as_it_did_in_the_training(world):
    pairs = [*((source.upper(), target) for source, target in world.train.pairs[:10]), *world.train.pairs[10:]]
    for fold_case in (True, False):
        made = align(world.source, world.target, pairs, method="procrustes", fold_case=fold_case)
        assert len(make_run_report(made).coverage["train"].pairs) == (80 if fold_case else 70)
    del made.provenance["inputs"]["fold_case"]  # runs of earlier versions do not have it
    assert len(make_run_report(made).coverage["train"].pairs) == 70


def test_words_that_were_trained_on_are_named(alignment, world):
    report = make_run_report(alignment, world.train)
    assert f"{len(world.train)} of these words were trained on" in report.sentences()[1]


def test_the_dev_words_of_a_method_that_chooses_are_no_measure(world):
    made = align(world.source, world.target, world.train, method="geomm")
    said = make_run_report(made, world.test).sentences()
    assert "do not measure the accuracy" in said[2]
    given = world.train.split(0.2, rng_seed=0)
    plain = align(world.source, world.target, given[0], dev=given[1], method="procrustes")
    assert not any("choices" in sentence for sentence in make_run_report(plain).sentences())


def test_without_any_dictionary(alignment):
    empty = dataclasses.replace(alignment, train=Lexicon.from_pairs([]), _indexes={})
    report = make_run_report(empty)
    assert report.doubtful == []
    ElementTree.fromstring(page(report, plots=False))


def test_a_file_whose_hash_is_not_known(alignment):
    """As a run may tell: both may be missing, each by itself."""
    given = copy.deepcopy(alignment.provenance)
    given["inputs"]["source"] |= {"file": "/home/me/one.vec", "sha256": None}
    text = page(make_run_report(dataclasses.replace(alignment, provenance=given)), plots=False)
    assert "one.vec" in text
    assert "unknown" in text


def test_hostile_words_stay_text(world):
    words = ["</td><script>alert(1)</script>", "\x00&amp;", *world.source.words[2:]]
    source = EmbeddingTable(words, world.source.rows)
    pairs = [(words[int(a[1:])], b) for a, b in (*world.train, *world.test)]
    made = align(source, world.target, Lexicon.from_pairs(pairs[:80]), method="procrustes")
    text = page(make_run_report(made, Lexicon.from_pairs(pairs)), plots=False)
    ElementTree.fromstring(text)
    assert "<script" not in text


class TestTraining:
    def test_a_line_for_each_part_and_a_panel_for_each_figure(self):
        records = [
            {
                "round": r,
                "stage": "choose",
                "epoch": e,
                "dev": 0.5 + 0.1 * e * r,
                "loss": 1.0 / (e + 1),
                "train_seconds": e,
            }
            for r in (1, 2)
            for e in range(3)
        ]
        (chart,) = training_charts(records)
        assert [title for title, _ in chart.panels] == ["dev", "loss"]
        assert [line.label for line in chart.panels[0][1]] == ["stage choose, round 1", "stage choose, round 2"]
        assert chart.panels[0][1][0].x == (0, 1, 2)

    def test_what_does_not_change_or_has_one_point_is_left_out(self):
        assert training_charts([{"epoch": 0, "loss": 1.0}]) == []
        assert training_charts([{"round": i, "loss": 1.0, "kept_round": i} for i in range(4)]) == []
        assert training_charts([{"stage": "context", "seconds": 1.0}]) == []

    def test_a_new_line_where_epochs_begin_again(self):
        records = [{"epoch": e, "loss": -e} for e in (0, 1, 0, 1, 2)]
        assert [line.x for line in training_charts(records)[0].panels[0][1]] == [(0, 1), (0, 1, 2)]


class TestLicences:
    def test_fetched_files_have_theirs(self, tmp_path):
        folder = tmp_path / "muse"
        (folder / ".fetched").mkdir(parents=True)
        (folder / ".fetched" / "wiki.en.vec.json").write_text("{}")
        (row,) = licences({"source": str(folder / "wiki.en.vec"), "dev": None})
        assert row[:3] == ("source", "wiki.en.vec", "CC BY-SA 3.0")

    def test_others_are_not_known(self, tmp_path):
        assert licences({"train": str(tmp_path / "muse" / "a.txt")}) == [("train", "a.txt", UNKNOWN, UNKNOWN)]

    def test_the_sample_has_a_notice(self):
        from bilex import sample

        (row,) = licences({"source": str(sample.load("en-fr").source.origin)})
        assert "NOTICE" in row[2]
