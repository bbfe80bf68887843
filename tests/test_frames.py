import sys

import pytest

from bilex import Entry, MissingExtraError, Translation, to_frame


def test_a_lexicon(alignment):
    frame = alignment.to_frame(n=2, max_rank=5)
    assert frame.columns == ["source", "target", "score", "rank", "origin", "confidence", "any_right"]
    assert frame.rows() == [(*entry[:5], None, None) for entry in alignment.induce(n=2, max_rank=5)]


def test_translations(alignment):
    frame = to_frame(alignment.translate(["s1", "zzz"], 2))
    first = alignment.translate(["s1"], 2)[0].candidates
    assert frame.rows() == [
        *(("s1", candidate.word, candidate.score, i + 1, "table") for i, candidate in enumerate(first)),
        ("zzz", None, None, None, None),
    ]


def test_one_translation(alignment):
    assert to_frame(alignment.translate("s1", 2)).equals(to_frame(alignment.translate(["s1"], 2)))


def test_nothing():
    assert to_frame([]).columns == ["source", "target", "score", "rank", "origin", "confidence", "any_right"]
    assert to_frame([Translation("x", (), None)]).rows() == [("x", None, None, None, None)]


def test_a_pair_without_a_score():
    frame = to_frame([Entry("a", "b", float("nan"), 1, "given"), Entry("c", "d", 0.5, 1, confidence=0.75)])
    assert frame["score"].to_list() == [None, 0.5]
    assert frame["confidence"].to_list() == [None, 0.75]
    assert "nan" not in frame.write_csv().lower()


def test_pandas():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = to_frame([Entry("a", "b", 0.5, 1, "found", 0.75, 0.9)], library="pandas")
    assert frame.to_dict("list") == {
        "source": ["a"],
        "target": ["b"],
        "score": [0.5],
        "rank": [1],
        "origin": ["found"],
        "confidence": [0.75],
        "any_right": [0.9],
    }


def test_pandas_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"bilex\[pandas\]"):
        to_frame([], library="pandas")
