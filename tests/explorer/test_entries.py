import numpy as np
import pytest
import torch

from bilex.explorer.entries import Entries, Filter
from bilex.explorer.induced import Best
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
    assert rows(entries, least=0.5, most=0.8) == [0, 1, 2, 3]
    assert rows(entries, keep=np.arange(len(entries)) % 2 == 0) == [0, 2, 4, 6]


def test_hubs(entries):
    first = entries.hubs(2)[0]
    assert first == {"row": 0, "among_best": 6, "best_of": 5, "examples": [0, 1, 2, 3, 4]}
    assert entries.hubness.largest == 6
    assert entries.hubness.k == 2
