"""What the page shows, entry by entry, against what the mapped vectors say when it is written out plainly."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from bilex.explorer import views
from bilex.explorer.chart import plane
from bilex.explorer.explorer import Explorer
from bilex.explorer.review_views import entries_view
from bilex.explorer.search import Ranked
from bilex.run.corrections import Corrections
from bilex.run.decision import Decision

OTHER = {"source": "target", "target": "source"}


@pytest.fixture
def truth(explorer):
    """CSLS of all pairs (n, m) of the two tables, and the r of every word."""
    cosines = explorer.index.x @ explorer.index.z.T
    r = {"source": cosines.topk(10).values.mean(1), "target": cosines.T.topk(10).values.mean(1)}
    return cosines, r, 2 * cosines - r["source"][:, None] - r["target"]


@pytest.fixture
def lexicon(truth):
    """Of each source word, by plain loops: best target, its score and the margin to the next, and the doubts."""
    _, _, scores = truth
    best, back = scores.topk(2), scores.argmax(0)
    targets = best.indices[:, 0].tolist()
    margins = (best.values[:, 0] - best.values[:, 1]).numpy()
    chosen, low = Counter(targets), np.quantile(margins, 0.1)
    return [
        {
            "target": j,
            "score": float(best.values[i, 0]),
            "margin": float(margins[i]),
            "doubts": [
                name
                for name, speaks in [
                    ("low_margin", margins[i] < low), ("one_sided", int(back[j]) != i), ("hub", chosen[j] >= 5)
                ]
                if speaks
            ],
        }
        for i, j in enumerate(targets)
    ]  # fmt: skip


def test_a_run_of_which_nothing_is_known(alignment, tmp_path):
    """As one made in Python, and not by `align`."""
    opened = Explorer(replace(alignment, provenance={}, folder=None, _indexes={}), Corrections(tmp_path / "c.sqlite"))
    shown = views.run_view(opened)
    opened.close()
    assert (shown["run"], shown["method"], shown["words"]) == ("", "", {"source": 160, "target": 160})


@pytest.fixture
def listed(explorer, lexicon, truth):
    """The same as the lexicon has it: what the dictionary gives is without doubts, and no margin speaks of it."""
    rows = [explorer.table(side).index for side in ("source", "target")]
    given = {}
    for source, target in explorer.alignment.train:
        if source in rows[0]:
            given.setdefault(rows[0][source], []).append(target)
    found = [entry for i, entry in enumerate(lexicon) if i not in given]
    low = np.quantile([entry["margin"] for entry in found], 0.1)
    names = explorer.table("target").words
    made = []
    for i, entry in enumerate(lexicon):
        doubts = [name for name in entry["doubts"] if name != "low_margin"]
        made.append({**entry, "target": names[entry["target"]], "more": [], "origin": "found"})
        made[-1]["doubts"] = ["low_margin"] * bool(entry["margin"] < low) + doubts
        if i in given:
            first, *more = given[i]
            score = float(truth[2][i, rows[1][first]]) if first in rows[1] else float("nan")
            told = {"target": first, "more": more, "origin": "given", "score": score, "margin": float("inf")}
            made[-1] = {**told, "doubts": []}
    return made


def test_every_entry_shows_its_own_doubts_and_no_others(explorer, listed):
    shown = entries_view(explorer, range(600))
    assert [entry["doubts"] for entry in shown] == [entry["doubts"] for entry in listed]
    kinds = Counter(tuple(entry["doubts"]) for entry in shown)
    assert kinds[()] > 100
    assert {entry["origin"] for entry in shown} == {"given", "found"}
    assert {name for doubts in kinds for name in doubts} == {"low_margin", "one_sided", "hub"}
    counts = views.hubs_view(explorer, explorer.entries, 1)["doubts"]
    assert counts == Counter(name for entry in listed for name in entry["doubts"])


def test_every_entry_shows_its_words_and_figures(explorer, listed):
    source = explorer.table("source").words
    shown = entries_view(explorer, range(600))
    for i, entry in enumerate(shown):
        assert (entry["source"], entry["rank"]) == (source[i], i + 1)
        assert [entry[name] for name in ("target", "origin")] == [listed[i][name] for name in ("target", "origin")]
        given = [candidate["word"] for candidate in entry["candidates"] if candidate["given"]]
        assert given == ([listed[i]["target"], *listed[i]["more"]] if listed[i]["origin"] == "given" else [])
        assert len(entry["candidates"]) == max(5, len(given))
        assert len({candidate["word"] for candidate in entry["candidates"]}) == len(entry["candidates"])
        for name in ("score", "margin"):
            known = math.isfinite(listed[i][name])
            assert entry[name] == (pytest.approx(listed[i][name], abs=2e-5) if known else None)
        assert entry["decision"] is None


@pytest.mark.parametrize("side", ["source", "target"])
def test_what_is_given_for_a_word(explorer, truth, side):
    cosines, _, scores = truth
    words, other = explorer.table(side).words, explorer.table(OTHER[side]).index
    train = explorer.alignment.train if side == "source" else explorer.alignment.train.swapped()
    several = [word for word, targets in train.targets_of().items() if word in words and len(targets) > 1]
    for word in several[:5]:
        row = words.index(word)
        shown = views.given_view(explorer, side, word, row)
        expected = train.targets_of()[word]
        if side == "target":  # the dictionary does not say which comes first
            column = {other[given]: float(scores[other[given], row]) for given in expected if given in other}
            expected = sorted(expected, key=lambda given: -column.get(other.get(given), -9))
        assert [candidate["word"] for candidate in shown] == expected
        for candidate in shown:
            place = other.get(candidate["word"])
            if place is None:
                assert candidate["score"] is candidate["cosine"] is candidate["mutual"] is None
                continue
            pair = (row, place) if side == "source" else (place, row)
            assert candidate["score"] == pytest.approx(float(scores[pair]), abs=2e-5)
            assert candidate["cosine"] == pytest.approx(float(cosines[pair]), abs=2e-5)
    assert views.given_view(explorer, side, "no such word", None) == []
    pair = (several[0], train.targets_of()[several[0]][0])
    explorer.corrections.decide(*(pair if side == "source" else pair[::-1]), "rejected")
    assert views.given_view(explorer, side, several[0], None)[0]["decision"]["verdict"] == "rejected"


def test_an_entry_shows_the_decision_about_its_own_pair(explorer):
    rows = [0, 2, 100]
    first, second, third = entries_view(explorer, rows)
    assert len({first["target"], second["target"], third["target"]}) == 3
    explorer.corrections.decide(first["source"], first["target"], "rejected", note="no")
    explorer.corrections.decide(second["source"], first["target"], "accepted")
    explorer.corrections.decide(third["target"], third["source"], "accepted")
    told = [entry["decision"] for entry in entries_view(explorer, rows)]
    assert (told[0]["verdict"], told[0]["targets"], told[0]["note"]) == ("rejected", [], "no")
    assert (told[1]["verdict"], told[1]["targets"]) == ("corrected", [first["target"]]), "another translation is right"
    assert told[2] is None


@pytest.mark.parametrize(
    "decision",
    [
        Decision("a", "x", "open", note="?"),
        Decision("a", "x", "open", mark="name"),
        Decision("a", "x", "accepted", ("x",), reviewer="anna"),
        Decision("a", "x", "rejected", made="2026-01-01T00:00:00.000Z"),
        Decision("a", "x", "corrected", ("y", "z"), "!"),
    ],
)
def test_a_decision_is_shown_if_it_counts_or_says_something(decision):
    shown = views.decision_view(decision)
    assert shown.pop("targets") == list(decision.targets)
    assert shown == {name: getattr(decision, name) for name in ("verdict", "note", "mark", "reviewer", "made")}
    assert views.decision_view(None) is None
    assert views.decision_view(Decision("a", "x", "open", reviewer="anna")) is None


@pytest.mark.parametrize("side", ["source", "target"])
def test_candidates(explorer, truth, side):
    cosines, r, scores = truth
    if side == "target":
        cosines, scores = cosines.T, scores.T
    words, other = (explorer.table(name).words for name in (side, OTHER[side]))
    row, vector = explorer.vector(side, words[11])
    found = explorer.translate(side, row, vector, 10)
    best = scores[row].topk(10).indices.tolist()
    chosen, left = words[row], words[row + 1]
    for place, verdict in enumerate(("accepted", "rejected")):
        pair = (chosen, other[best[place]])
        explorer.corrections.decide(*(pair if side == "source" else pair[::-1]), verdict)
    pair = (left, other[best[2]])
    explorer.corrections.decide(*(pair if side == "source" else pair[::-1]), "accepted")
    shown = views.candidates_view(explorer, side, words[row], row, found)
    assert [candidate["word"] for candidate in shown] == [other[j] for j in best]
    decided = [candidate["decision"] and candidate["decision"]["verdict"] for candidate in shown]
    assert decided == ["accepted", "rejected", *[None] * 8]
    for j, candidate in zip(best, shown, strict=True):
        assert candidate["score"] == pytest.approx(float(scores[row, j]), abs=2e-5)
        assert candidate["cosine"] == pytest.approx(float(cosines[row, j]), abs=2e-5)
        assert candidate["r"] == pytest.approx(float(r[OTHER[side]][j]), abs=2e-5)
        assert candidate["mutual"] == (int(scores[:, j].argmax()) == row)
        assert not {"score_rank", "cosine_rank"} & set(candidate)
    if side == "source":
        assert {candidate["mutual"] for candidate in shown} == {False, True}
    # A word of no table leads nowhere back, nor is it known before the search is over.
    assert all(
        candidate["mutual"] is None for candidate in views.candidates_view(explorer, side, words[row], None, found)
    )
    explorer.induced.best.clear()
    assert all(
        candidate["mutual"] is None for candidate in views.candidates_view(explorer, side, words[row], row, found)
    )


def test_candidates_that_are_explained_have_ranks(explorer):
    row, vector = explorer.vector("source", explorer.table("source").words[11])
    found = explorer.explain("source", row, vector, 5).result(60)
    shown = views.candidates_view(explorer, "source", "x", row, found)
    assert [candidate["score_rank"] for candidate in shown] == found.score_ranks
    assert [candidate["cosine_rank"] for candidate in shown] == found.cosine_ranks


def test_figures_are_rounded_to_five_digits(explorer):
    found = Ranked([0], [1 / 3], [2 / 3], [1 / 7], 0.0, [], [])
    (shown,) = views.candidates_view(explorer, "source", "x", None, found)
    assert (shown["score"], shown["cosine"], shown["r"]) == (0.33333, 0.66667, 0.14286)
    (near,) = views.neighbours_view(explorer, "target", found)
    assert near == {"word": explorer.table("target").words[0], "cosine": 0.66667}


def test_personal(explorer, monkeypatch):
    words = explorer.table("target").words
    found = {"size": 1 / 3, "along": 2 / 3, "turned": 100 / 3, "towards": [[4, 1 / 7]], "away": [[5, -1 / 7], [6, 0]]}
    asked = []
    monkeypatch.setattr(views, "personal", lambda *given: asked.append(given) or found | {"context": list(range(60))})
    assert views.offset_view(explorer, "target", 3) == {
        "size": 0.33333,
        "along": 0.66667,
        "turned": 33.33333,
        "towards": [{"word": words[4], "cosine": 0.14286}],
        "away": [{"word": words[5], "cosine": -0.14286}, {"word": words[6], "cosine": 0}],
        "context": words[:50],
        "context_size": 60,
    }
    mapping, side, row, table = asked[0]
    assert (mapping, side, row) == (explorer.alignment.mapping, "target", 3)
    assert torch.equal(table, explorer.alignment.normalized("target"))
    assert views.offset_view(explorer, "target", None) is None
    monkeypatch.setattr(views, "personal", lambda *_: None)
    assert views.offset_view(explorer, "target", 3) is None


def test_map(explorer):
    near = {"source": [3, 7], "target": [3, 5, 9]}
    told = views.map_view(explorer, near, ("target", 3))
    places = [("source", 3), ("source", 7), ("target", 3), ("target", 5), ("target", 9)]
    points = told["points"]
    assert [(point["side"], point["word"]) for point in points] == [
        (side, explorer.table(side).words[row]) for side, row in places
    ]
    assert [point["self"] for point in points] == [False, False, True, False, False]
    rows = {"source": explorer.index.x, "target": explorer.index.z}
    normalized = {side: explorer.alignment.normalized(side) for side in rows}
    for name, tables in (("before", normalized), ("after", rows)):
        expected = plane(torch.stack([tables[side][row] for side, row in places]))
        np.testing.assert_allclose([point[name] for point in points], expected.points, atol=6e-6)
        assert told["shown"][name] == round(expected.shown, 3)
        assert all(value == round(value, 5) for point in points for value in point[name])


def test_hubs(explorer, truth, lexicon):
    _, _, scores = truth
    source, target = explorer.table("source").words, explorer.table("target").words
    counts = Counter(scores.topk(10).indices.flatten().tolist())
    best = [entry["target"] for entry in lexicon]
    told = views.hubs_view(explorer, explorer.entries, 7)
    assert (told["k"], told["entries"], len(told["hubs"])) == (10, 600, 7)
    assert told["never"] == round(100 * (800 - len(counts)) / 800, 1)
    values = np.array([counts[j] for j in range(800)], dtype=float)
    centred = values - values.mean()
    assert told["skewness"] == round(float((centred**3).mean() / (centred**2).mean() ** 1.5), 2)
    assert [hub["among_best"] for hub in told["hubs"]] == [count for _, count in counts.most_common(7)]
    hubs = views.hubs_view(explorer, explorer.entries, 800)["hubs"]
    assert hubs[:7] == told["hubs"]
    for hub in hubs:
        j = target.index(hub["word"])
        assert set(hub) == {"word", "among_best", "best_of", "examples"}
        assert (hub["among_best"], hub["best_of"]) == (counts[j], best.count(j))
        assert hub["examples"] == [source[i] for i in range(600) if best[i] == j][:5]


def test_run(explorer, run):
    explorer.corrections.decide("a", "x", "accepted")
    told = views.run_view(explorer)
    assert told == {
        "run": run.name,
        "method": "procrustes",
        "names": {"source": "en", "target": "fr"},
        "words": {"source": 600, "target": 800},
        "preparation": explorer.preparation.status(),
        "learning": explorer.learning.status(),
        "ready": {"translations": {"source": True, "target": True}, "lexicon": True},
        "decided": {"accepted": 1, "rejected": 0, "corrected": 0},
        "reviewer": "",
    }
    # Source words can be translated as soon as the r of the target words are known, and the other way round.
    del explorer.index.penalties["target"], explorer.induced.best["backward"]
    assert views.run_view(explorer)["ready"] == {"translations": {"source": False, "target": True}, "lexicon": False}
