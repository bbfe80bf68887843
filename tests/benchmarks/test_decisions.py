import numpy as np
import pytest

import decisions


@pytest.fixture(scope="module")
def gold(reranked, alike):
    return alike.test.index(reranked.source, reranked.target).gold


def test_decides_and_learns_on_other_words(reranked, gold, monkeypatch):
    monkeypatch.setattr(decisions, "COUNTS", (10, 30))
    found = decisions.split(reranked, gold, 0)
    assert found["words"] == 50
    rows = np.array(sorted(gold))
    assert 0 < found["before"] <= 100
    for cells in found["orders"].values():
        assert [cell["decisions"] for cell in cells] == [10, 30]
        assert all(0 <= cell["corrected"] <= cell["wrong"] <= cell["decisions"] for cell in cells)
        assert all(abs(cell["p_at_1"] - found["before"]) < 20 for cell in cells)
    expected = 100 * np.mean(
        [reranked.translate(reranked.source.words[i], 1).words[0] == reranked.target.words[gold[i][0]] for i in rows]
    )
    assert decisions.precision(reranked, rows, gold) == pytest.approx(expected)


def test_orders(reranked, gold):
    pool = np.array(sorted(gold))
    orders = decisions.orders(reranked, pool, 0)
    assert all(sorted(order.tolist()) == list(range(len(pool))) for order in orders.values())
    assert orders["frequency"].tolist() == list(range(len(pool)))
    p = decisions.ranked(reranked, pool).confidences[:, 0]
    assert abs(p[orders["uncertain"][0]] - 0.5) == pytest.approx(np.abs(p - 0.5).min())


def test_prints_a_table(reranked, gold, capsys, monkeypatch):
    monkeypatch.setattr(decisions, "COUNTS", (10,))
    record = {"system": "a", "direction": "b", "pairs": None, "splits": [decisions.split(reranked, gold, 0)]}
    decisions.print_table([record, {**record, "splits": []}])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(record["splits"][0]["orders"]) + 1
    assert "no second stage" in lines[-1]
