"""The review of a run with a second stage: its order of the candidates, and their confidence."""

import math
from contextlib import closing

import pytest

from bilex import Alignment
from bilex.explorer import review_views
from bilex.explorer.entries import Filter
from bilex.explorer.explorer import Explorer
from bilex.run.corrections import Corrections


@pytest.fixture
def saved(reranked, tmp_path):
    reranked.save(tmp_path / "run")
    return tmp_path / "run"


def opened(run):
    return closing(Explorer(Alignment.load(run, device="cpu"), Corrections(run / "corrections.sqlite")))


def prepared(explorer):
    explorer.preparation.start()
    explorer.preparation.wait()
    assert explorer.preparation.status()["error"] is None
    return explorer


def test_candidates_and_confidences_are_those_of_the_alignment(saved, alike):
    with opened(saved) as explorer:
        assert not explorer.induced.ready
        alignment = prepared(explorer).alignment
        found = {entry.source: entry for entry in alignment.induce(given=False)}
        rows = [alignment.source.index[word] for word in alike.test.sources]
        for entry in review_views.entries_view(explorer, rows):
            expected = alignment.translate(entry["source"], 5)
            assert [candidate["word"] for candidate in entry["candidates"]] == expected.words
            told = [candidate["confidence"] for candidate in entry["candidates"]]
            assert told == pytest.approx(expected.confidences, abs=1e-5)
            assert entry["confidence"] == pytest.approx(found[entry["source"]].confidence, abs=1e-5)
            assert explorer.confidence("source", entry["rank"] - 1)
        home = review_views.home_view(explorer)
        assert home["confidence"]
        assert 0 < home["expected"] < 100
        values = sorted(explorer.entries.confidence[rows].tolist())
        high = explorer.entries.select(Filter(min_confidence=values[50], origin="found"))
        assert len(high) == sum(value >= values[50] for value in values)
        lexicon = {entry.source: entry for entry in explorer.lexicon() if entry.origin == "found"}
        assert all(not math.isnan(entry.confidence) for entry in lexicon.values())


def test_they_are_computed_once(saved, monkeypatch):
    with opened(saved) as explorer:
        first = prepared(explorer).entries.found_confidence.tolist()
    monkeypatch.setattr(Alignment, "stage", lambda *_, **__: pytest.fail("it is in the cache"))
    with opened(saved) as explorer:
        assert explorer.induced.ready
        assert explorer.entries.found_confidence.tolist() == first


def test_another_retrieval_has_no_second_stage(saved):
    alignment = Alignment.load(saved, device="cpu")
    with closing(Explorer(alignment, Corrections(saved / "corrections.sqlite"), k=5)) as explorer:
        assert not review_views.about_view(prepared(explorer))["confidence"]
