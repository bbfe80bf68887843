import math

import pytest
import torch

from bilex.evaluation import precision
from bilex.evaluation.precision import Scores, evaluate, gold_matrix
from bilex.lexicon import Lexicon
from bilex.retrieval import CSLS, Nearest
from bilex.table import EmbeddingTable


def table(words, *degrees):
    angles = torch.tensor(degrees, dtype=torch.float64).deg2rad()
    return EmbeddingTable(words.split(), torch.stack([angles.cos(), angles.sin()], 1).float().numpy())


# By angle, the candidates of a come in the order 0 30 60 90, of b 60 30 90 0, of c 90 60 30 0.
SOURCE, TARGET = table("a b c", 10, 50, 88), table("t0 t30 t60 t90", 0, 30, 60, 90)
PAIRS = [
    ("a", "t90"),
    ("a", "t30"),
    ("a", "nowhere"),
    ("b", "t0"),
    ("c", "t90"),
    ("d", "t0"),  # no such source
    ("c", "t90"),
]
RANKS = {"a": 2, "b": 4, "c": 1}


def evaluated(pairs=PAIRS, retrieval=None, **more):
    tables = (SOURCE, TARGET) if more.get("direction", "forward") == "forward" else (TARGET, SOURCE)
    index = (retrieval or Nearest()).index(torch.from_numpy(SOURCE.rows), torch.from_numpy(TARGET.rows))
    return evaluate(index, Lexicon.from_pairs(pairs).index(*tables), **more)


def test_by_hand():
    result = evaluated()
    assert result.ranks == RANKS
    assert (result.sources, result.covered, result.coverage) == (4, 3, 75)
    assert result.scores == Scores(p_at_1=100 / 3, p_at_5=100, p_at_10=100, mrr=pytest.approx((1 / 2 + 1 / 4 + 1) / 3))
    assert result.scores_all == Scores(p_at_1=25, p_at_5=75, p_at_10=75, mrr=pytest.approx((1 / 2 + 1 / 4 + 1) / 4))
    assert (result.direction, result.retrieval, result.train_overlap) == ("forward", "nn", 0)


def test_backward():
    result = evaluated([("t0", "b"), ("t90", "b"), ("t90", "c")], direction="backward")
    assert result.ranks == {"t0": 2, "t90": 1}
    assert result.direction == "backward"


def test_the_cuts_of_precision():
    scores = Scores.of(torch.tensor([1, 2, 5, 6, 10, 11, 1000, 1]), 10)
    assert (scores.p_at_1, scores.p_at_5, scores.p_at_10) == (20, 40, 60)
    assert scores.mrr == pytest.approx((1 + 1 / 2 + 1 / 5 + 1 / 6 + 1 / 10 + 1 / 11 + 1 / 1000 + 1) / 10)
    assert Scores.of(torch.empty(0, dtype=torch.long), 0) == Scores(p_at_1=0, p_at_5=0, p_at_10=0, mrr=0)


def test_bands_of_frequency(monkeypatch):
    monkeypatch.setattr(precision, "BANDS", (0, 2, 100))
    first, second = evaluated().bands
    assert (first.first, first.last, first.covered, first.scores.mrr) == (0, 1, 2, pytest.approx(3 / 8))
    assert (second.first, second.last, second.covered, second.scores.p_at_1) == (2, 2, 1, 100)


def test_bands_cover_all(world, alignment):
    result = alignment.evaluate(world.test)
    assert sum(band.covered for band in result.bands) == result.covered == len(world.test)


def test_json_is_flat():
    found = evaluated().to_json()
    assert {key: found[key] for key in ("covered", "sources", "coverage", "p_at_1_all", "train_overlap")} == {
        "covered": 3,
        "sources": 4,
        "coverage": 75,
        "p_at_1_all": 25,
        "train_overlap": 0,
    }
    cuts = {"p_at_1", "p_at_5", "p_at_10", "mrr"}
    assert found.keys() == {
        *cuts,
        *(f"{cut}_all" for cut in cuts),
        *("direction", "retrieval", "covered", "sources", "coverage", "train_overlap", "bands"),
    }
    assert found["bands"] == [{"first": 0, "last": 2, "covered": 3, **{cut: found[cut] for cut in cuts}}]


def test_gold_is_padded():
    assert gold_matrix({3: [1], 5: [2, 0]}, torch.tensor([5, 3])).tolist() == [[2, 0], [1, -1]]


def test_ranks_agree_with_translations(world, alignment):
    result = alignment.evaluate(world.test)
    targets = world.test.targets_of()
    for translation in alignment.translate(list(result.ranks), n=len(world.target)):
        place = next(i for i, c in enumerate(translation.candidates, 1) if c.word in targets[translation.word])
        assert result.ranks[translation.word] == place
    assert 0 < result.scores.p_at_1 < 100
    assert math.isclose(result.scores.mrr, sum(1 / rank for rank in result.ranks.values()) / result.covered)


def test_a_tie_is_never_right_by_luck(world):
    """Words that nobody can tell apart: the first of them is no better an answer than the others."""
    rows = world.target.rows.copy()
    rows[3:9] = rows[3]
    tied = EmbeddingTable(world.target.words, rows)
    index = Nearest().index(torch.from_numpy(rows), torch.from_numpy(rows))
    pairs = [(word, word) for word in tied.words[:12]]
    ranks = evaluate(index, Lexicon.from_pairs(pairs).index(tied, tied)).ranks
    assert list(ranks.values()) == [6 if 3 <= i < 9 else 1 for i in range(12)]
    synonyms = [(tied.words[3], word) for word in tied.words[3:9]]
    assert list(evaluate(index, Lexicon.from_pairs(synonyms).index(tied, tied)).ranks.values()) == [1]


def test_penalties_are_those_of_the_whole_tables(world, alignment):
    """A dictionary of one word gets the same rank as within the whole dictionary."""
    everything = alignment.evaluate(world.test, retrieval=CSLS()).ranks
    for pair in list(world.test)[:8]:
        assert alignment.evaluate(Lexicon.from_pairs([pair])).ranks == {pair[0]: everything[pair[0]]}
