"""The review of a run with a second stage: its order of the candidates, their confidence, and what decisions teach."""

import math
from contextlib import closing

import pytest
from starlette.testclient import TestClient

from bilex import Alignment
from bilex.errors import ExplorerError
from bilex.explorer import review_views
from bilex.explorer.app import make_app
from bilex.explorer.entries import Filter
from bilex.explorer.explorer import Explorer
from bilex.explorer.preparation import NotReadyError
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


def decide(explorer, words, translations):
    for word in words:
        found = explorer.suggestion(row(explorer, word)) == translations[word]
        explorer.review.decide(word, "accepted" if found else "corrected", [translations[word]])


def row(explorer, word):
    return explorer.table("source").index[word]


def wait(explorer):
    explorer.learning._work.wait()
    assert explorer.learning.status()["error"] is None


@pytest.fixture
def right(alike):
    return dict(alike.test)


class TestLearning:
    def test_ranks_anew_and_back(self, saved, right, monkeypatch):
        monkeypatch.setattr("bilex.explorer.translations_cache.FIRST", 100)
        words = list(right)[:40]
        with opened(saved) as explorer:
            before = prepared(explorer).entries.found_confidence.tolist()
            assert explorer.learning.status() == {
                "possible": True, "words": 0, "running": False, "step": "", "share": 0.0, "done": True, "error": None,
            }  # fmt: skip
            decide(explorer, words, right)
            explorer.learning.start()
            wait(explorer)
            assert explorer.learning.status()["words"] == len(words)
            alignment = explorer.alignment
            for entry in review_views.entries_view(explorer, [row(explorer, word) for word in list(right)[40:]]):
                expected = alignment.translate(entry["source"], 5)
                assert [candidate["word"] for candidate in entry["candidates"]] == expected.words
                assert entry["confidence"] == pytest.approx(expected.confidences[0], abs=1e-5)
            after = explorer.entries.found_confidence.tolist()
            assert after != before
            assert [explorer.review.state(word).targets for word in words] == [(right[word],) for word in words]
        with opened(saved) as explorer:  # it is on disk, and so is the ranking
            assert explorer.induced.ready
            assert explorer.entries.found_confidence.tolist() == after
            prepared(explorer).learning.take_back()
            wait(explorer)
            assert explorer.learning.status()["words"] == 0
            assert explorer.entries.found_confidence.tolist() == before
        assert Alignment.load(saved).reranker.decided is None

    def test_the_most_frequent_words_come_first(self, saved, right, monkeypatch):
        monkeypatch.setattr("bilex.explorer.translations_cache.FIRST", 100)
        shown = []
        with opened(saved) as explorer:
            before = prepared(explorer).entries.found_confidence[:, 0].tolist()
            decide(explorer, list(right)[:40], right)
            show = explorer.show
            monkeypatch.setattr(
                explorer,
                "show",
                lambda *of: (show(*of), shown.append(explorer.entries.found_confidence[:, 0].tolist())),
            )
            explorer.learning.start()
            wait(explorer)
        first, whole = shown
        assert first[100:] == before[100:] != whole[100:]
        assert first[:100] == whole[:100] != before[:100]

    def test_a_mistake_is_told_and_changes_nothing(self, saved):
        with opened(saved) as explorer:
            before = prepared(explorer).entries
            explorer.learning.start()
            explorer.learning._work.wait()
            assert "no decision about a word" in explorer.learning.status()["error"]
            assert explorer.entries is before
            assert not (saved / "reranker-with-decisions.safetensors").exists()

    def test_not_while_the_lexicon_is_made(self, saved):
        with opened(saved) as explorer, pytest.raises(NotReadyError):
            explorer.learning.start()

    def test_not_without_a_second_stage(self, saved):
        alignment = Alignment.load(saved, device="cpu")
        with closing(Explorer(alignment, Corrections(saved / "corrections.sqlite"), k=5)) as explorer:
            assert not prepared(explorer).learning.status()["possible"]
            with pytest.raises(ExplorerError, match="no second stage"):
                explorer.learning.start()

    def test_over_the_web(self, saved, right):
        explorer = Explorer(Alignment.load(saved, device="cpu"), Corrections(saved / "corrections.sqlite"))
        with TestClient(make_app(explorer, token="t"), base_url="http://127.0.0.1:8421") as client:
            client.headers["x-bilex-token"] = "t"
            explorer.preparation.wait()
            told = client.get("/api/home").json()["learning"]
            assert (told["possible"], told["words"], told["decided"]) == (True, 0, 0)
            decide(explorer, list(right)[:30], right)
            assert client.post("/api/learn", json={}).status_code == 200
            explorer.learning._work.wait()
            assert client.get("/api/status").json()["learning"]["words"] == 30
            assert client.post("/api/learn", json={"back": True}).status_code == 200
            explorer.learning._work.wait()
            told = client.get("/api/home").json()["learning"]
            assert (told["words"], told["decided"], told["error"]) == (0, 30, None)
