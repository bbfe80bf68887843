import numpy as np
import pytest
import torch

from bilex.explorer.entries import Entries, Filter
from bilex.explorer.translations_cache import Best
from bilex.explorer.words import WordIndex

SOURCES = [f"s{i}" for i in range(8)]
TARGETS = ["hub", "Été", "t2", "t3"]


@pytest.fixture
def entries():
    best = [0, 0, 0, 0, 0, 1, 2, 3]
    rows = torch.tensor([[j, (j + 1) % 4] for j in best])
    scores = torch.tensor(
        [[0.8, 0.7], [0.7, 0.3], [0.6, 0.59], [0.5, 0.1], [0.4, 0.1], [0.9, 0.2], [0.3, 0.1], [0.2, 0]]
    )
    back = torch.tensor([[1, 0], [5, 0], [7, 6], [7, 6]])
    return Entries(Best(rows, scores), Best(back, torch.zeros(4, 2)), WordIndex(SOURCES), WordIndex(TARGETS))


def rows(entries, keep=None, **wanted):
    return entries.select(Filter(**wanted), keep).tolist()


def test_doubts(entries):
    assert np.flatnonzero(entries.doubts["hub"]).tolist() == [0, 1, 2, 3, 4]
    assert np.flatnonzero(entries.doubts["one_sided"]).tolist() == [0, 2, 3, 4, 6]
    assert np.flatnonzero(entries.doubts["low_margin"]).tolist() == [2]
    assert rows(entries, order="doubts", ascending=False)[0] == 2
    assert rows(entries, doubt="any") == [0, 1, 2, 3, 4, 6]


def test_order(entries):
    assert rows(entries) == list(range(8))
    assert rows(entries, ascending=False) == list(range(8))[::-1]
    assert rows(entries, order="score", ascending=False)[:2] == [5, 0]
    assert rows(entries, order="margin", ascending=True)[:2] == [2, 0]


def test_filters(entries):
    assert rows(entries, text="ete") == [5]
    assert rows(entries, text="S7") == [7]
    assert rows(entries, text="no such word") == []
    assert rows(entries, min_score=0.5, max_score=0.8) == [0, 1, 2, 3]
    assert rows(entries, keep=np.arange(len(entries)) % 2 == 0) == [0, 2, 4, 6]


def test_hubs(entries):
    first = entries.hubs(2)[0]
    assert first == {"row": 0, "among_best": 6, "best_of": 5, "examples": [0, 1, 2, 3, 4]}
    assert entries.hubness.largest == 6
    assert entries.hubness.k == 2


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("order", ["frequency", "margin", "score", "doubts"])
def test_every_order_is_that_of_its_column_and_then_of_the_rows(entries, order, ascending):
    doubts = [sum(int(column[i]) for column in entries.doubts.values()) for i in range(8)]
    column = {"frequency": range(8), "margin": entries.margin, "score": entries.score, "doubts": doubts}[order]
    expected = sorted(range(8), key=lambda i: column[i] if ascending else -column[i])
    assert rows(entries, order=order, ascending=ascending) == expected
    assert rows(entries, order=order, ascending=ascending) == expected, "once more, from what was kept"


def test_figures(entries):
    np.testing.assert_allclose(entries.score, [0.8, 0.7, 0.6, 0.5, 0.4, 0.9, 0.3, 0.2])
    np.testing.assert_allclose(entries.margin, [0.1, 0.4, 0.01, 0.4, 0.3, 0.7, 0.2, 0.2], atol=1e-7)
    assert entries.doubt_count.tolist() == [2, 1, 3, 2, 2, 0, 1, 0]
    assert entries.mutual.tolist() == [False, True, False, False, False, True, False, True]
    assert entries.chosen.tolist() == [5, 1, 1, 1]


@pytest.mark.parametrize(
    ("doubt", "fitting"),
    [("hub", [0, 1, 2, 3, 4]), ("one_sided", [0, 2, 3, 4, 6]), ("low_margin", [2]), ("any", [0, 1, 2, 3, 4, 6])],
)
def test_by_doubt(entries, doubt, fitting):
    assert rows(entries, doubt=doubt) == fitting
    assert rows(entries, doubt=doubt, keep=np.arange(8) > 2) == [i for i in fitting if i > 2]


def test_a_choice_of_entries_is_not_changed_by_a_filter(entries):
    keep = np.ones(8, dtype=bool)
    rows(entries, keep=keep, doubt="hub", text="s1", min_score=0.1, max_score=0.9)
    assert keep.all()


def test_one_text_after_another(entries):
    """The mask of the last text is kept: another text has another one, and no text has all."""
    expected = {text: rows(entries, text=text) for text in ("s1", "t2", "s1", "", "s1")}
    assert expected["s1"] == rows(entries, text="s1") != expected["t2"] == rows(entries, text="t2")
    assert expected[""] == list(range(8))


def test_a_hub_has_five_entries_and_shows_as_many():
    """Four are none, and of six five are shown."""
    found = torch.tensor([0] * 4 + [1] * 6)[:, None]
    scores = torch.linspace(1, 0, 10)[:, None]
    back = Best(torch.zeros(2, 1, dtype=torch.int), torch.zeros(2, 1))
    entries = Entries(Best(found, scores), back, WordIndex([f"s{i}" for i in range(10)]), WordIndex(["a", "b"]))
    assert np.flatnonzero(entries.doubts["hub"]).tolist() == [4, 5, 6, 7, 8, 9]
    assert entries.hubs(5) == [
        {"row": 1, "among_best": 6, "best_of": 6, "examples": [4, 5, 6, 7, 8]},
        {"row": 0, "among_best": 4, "best_of": 4, "examples": [0, 1, 2, 3]},
    ]
    # With one candidate there is no second, and no margin.
    assert entries.margin.tolist() == [0] * 10
    assert not entries.doubts["low_margin"].any()


def test_confidence_where_it_is_known():
    """Entries without it are within no bounds, and come last in its order, both ways."""
    rows_, scores = torch.tensor([[0, 1]] * 4), torch.tensor([[0.9, 0.1], [0.9, 0.8], [0.9, 0.5], [0.9, 0.85]])
    confidence = np.array([[0.2, 0.1], [np.nan, np.nan], [0.9, 0.05], [np.nan, np.nan]], dtype=np.float32)
    words = WordIndex(SOURCES[:4]), WordIndex(TARGETS)
    back = Best(torch.zeros(4, 2, dtype=torch.int), torch.zeros(4, 2))
    entries = Entries(Best(rows_, scores), back, *words, confidence=confidence)
    assert rows(entries, order="confidence") == [0, 2, 1, 3]
    assert rows(entries, order="confidence", ascending=False) == [2, 0, 1, 3]
    assert rows(entries, min_confidence=0.5) == [2]
    assert rows(entries, max_confidence=0.5) == [0]
    # The first is wrong and the second is right, or the share of entries with a larger margin; over log2 of the rank.
    expected = np.array([0.8 * 0.1, 3 / 4, 0.1 * 0.05, 1.0]) / np.log2([2, 3, 4, 5])
    np.testing.assert_allclose(entries.usefulness, expected, rtol=1e-6)
    assert rows(entries, order="useful", ascending=False) == np.argsort(-expected).tolist()


def test_useful_is_what_can_be_corrected():
    """An entry without any probable candidate teaches nothing that could be chosen; one that is right neither."""
    rows_ = torch.arange(7).expand(4, 7)
    confidence = np.full((4, 7), 0.0, dtype=np.float32)
    confidence[0, 0] = 0.95  # probably right
    confidence[1, :2] = 0.05, 0.01  # nonsense only
    confidence[2, :3] = 0.4, 0.3, 0.2  # one of three
    confidence[3, [0, 6]] = 0.4, 0.4  # the other is not shown
    words = WordIndex(SOURCES[:4]), WordIndex([f"t{i}" for i in range(7)])
    back = Best(torch.zeros(7, 4, dtype=torch.int), torch.zeros(7, 4))
    entries = Entries(Best(rows_, torch.zeros(4, 7)), back, *words, confidence=confidence)
    np.testing.assert_allclose(entries.usefulness[2], 0.6 * (1 - 0.7 * 0.8) / 2, rtol=1e-6)
    assert entries.usefulness.argmax() == 2
    assert entries.usefulness[[0, 3]].tolist() == [0, 0]
