import dataclasses

import numpy as np
import pytest
import torch

from bilex.errors import AlignmentError
from bilex.linalg.procrustes import procrustes
from bilex.normalize import unit
from bilex.rerank.cross_fitting import cross_fit, fold_numbers
from bilex.rerank.evidence import Evidence
from bilex.rerank.learning import SecondStage
from bilex.rerank.reranker import RETRIEVAL
from bilex.rerank.signals import SIGNALS
from bilex.retrieval.sides import Sides

LETTERS = "abcdefghijklmnop"


class Language:
    """Source words and their translations, spelt alike or not, with vectors that are too noisy to find them all."""

    def __init__(self, words=400, dim=20, noise=0.9, *, alike=True, rng_seed=0):
        rng = np.random.default_rng(rng_seed)
        source = ["".join(rng.choice(list(LETTERS), 7)) + str(i) for i in range(words)]
        target = [f"{word}o" if alike else "".join(rng.choice(list(LETTERS), 8)) for word in source]
        x = rng.standard_normal((words, dim))
        rotation = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
        z = x @ rotation + noise * rng.standard_normal(x.shape)
        self.x, self.z = (unit(torch.from_numpy(rows).float()) for rows in (x, z))
        self.words = Sides(source, target)
        self.pairs = np.repeat(np.arange(words)[:, None], 2, axis=1)
        self.fitted = []

    def fit(self, pairs):
        self.fitted.append(pairs)
        matrix = procrustes(self.x[pairs[:, 0]], self.z[pairs[:, 1]])
        return Sides(unit(self.x @ matrix), self.z)

    @property
    def evidence(self):
        return Evidence(words=self.words, rows=self.fit(self.pairs), pairs=self.pairs)


@pytest.fixture(scope="module")
def language():
    return Language()


@pytest.fixture(scope="module")
def learnt(language):
    return SecondStage(candidates=10).fit(language.fit, language.evidence, rng_seed=0)


def test_folds_have_equal_sizes_and_do_not_depend_on_the_order():
    words = [f"w{i}" for i in range(100)]
    numbers = fold_numbers(words, 3, 0)
    assert sorted(np.bincount(numbers)) == [33, 33, 34]
    assert fold_numbers(words[::-1], 3, 0)[::-1].tolist() == numbers.tolist()
    assert fold_numbers(words, 3, 1).tolist() != numbers.tolist()


def test_no_word_is_ranked_by_a_mapping_that_was_trained_on_it():
    language = Language(60)
    evidence = language.evidence
    language.fitted.clear()
    signals = [SIGNALS["csls"], SIGNALS["dictionary"]]
    lists = cross_fit(language.fit, evidence, signals, folds=3, candidates=5, retrieval=RETRIEVAL, rng_seed=0)
    assert sorted(np.concatenate([part.sources for part in lists]).tolist()) == list(range(60))
    for part, pairs in zip(lists, list(language.fitted), strict=True):
        assert not set(part.sources.tolist()) & set(pairs[:, 0].tolist())
        assert len(part.sources) + len(pairs) == 60
        index = RETRIEVAL.index(*language.fit(pairs))
        best = index.topk(index.x[torch.from_numpy(part.sources)], 5).indices
        assert part.gold.any(1).tolist() == [i in best[place] for place, i in enumerate(part.sources.tolist())]
        assert part.total.tolist() == [1] * len(part.sources)


def test_spelling_helps_where_words_are_alike(learnt):
    assert learnt.summary.gain > 10
    assert learnt.summary.calibration_error < 0.1
    assert learnt.summary.words == 400
    assert learnt.summary.p_at_1 <= learnt.summary.recall
    spelling = [w for name, w in zip(learnt.ranker.names, learnt.ranker.weights, strict=True) if "spelling" in name]
    assert max(spelling) > 0.3


def test_what_does_not_help_is_left_out():
    # spelling at random, frequencies too: there is nothing to learn beyond the vectors
    language = Language(200, alike=False, noise=0.3)
    assert SecondStage(candidates=5).fit(language.fit, language.evidence, rng_seed=0) is None


def test_too_few_words(language):
    few = Evidence(words=language.words, rows=language.fit(language.pairs), pairs=language.pairs[:100])
    assert SecondStage().fit(language.fit, few, rng_seed=0) is None


def test_the_same_again(language, learnt):
    again = SecondStage(candidates=10).fit(language.fit, language.evidence, rng_seed=0)
    assert again.ranker.weights.tolist() == learnt.ranker.weights.tolist()
    assert again.calibration.weights.tolist() == learnt.calibration.weights.tolist()


def test_signals_can_be_left_out(language):
    found = SecondStage(candidates=10, without=("spelling", "transliteration", "relatives", "endings")).fit(
        language.fit, language.evidence, rng_seed=0
    )
    assert found is None or "spelling" not in found.signals


@pytest.fixture(scope="module")
def stage(language, learnt):
    return learnt.bind(language.evidence)


@pytest.fixture(scope="module")
def index(language):
    return RETRIEVAL.index(*language.fit(language.pairs))


def test_rank_order_is_that_of_the_scores(stage, index):
    found = stage.rank(index, np.arange(50), 10)
    confidences = found.confidences
    assert (np.sort(confidences, axis=1)[:, -1] == confidences[:, 0]).mean() > 0.95
    by_vectors = index.topk(index.x[:50], 10, rows=torch.arange(50))
    assert [sorted(row) for row in found.targets.tolist()] == [sorted(row) for row in by_vectors.indices.tolist()]


def test_rank_more_than_are_ranked_follow_as_they_are(stage, index):
    found = stage.rank(index, np.arange(5), 15)
    by_vectors = index.topk(index.x[:5], 15, rows=torch.arange(5))
    assert found.targets[:, 10:].tolist() == by_vectors.indices[:, 10:].tolist()
    assert (found.confidences[:, 10:] == 0).all()


def test_rank_blocks_have_no_effect(stage, index, monkeypatch):
    whole = stage.rank(index, np.arange(30), 10)
    monkeypatch.setattr("bilex.rerank.reranker.WORDS", 7)
    parts = stage.rank(index, np.arange(30), 10)
    assert parts.targets.tolist() == whole.targets.tolist()
    np.testing.assert_allclose(parts.confidences, whole.confidences, rtol=1e-5)


def test_rank_no_words(stage, index):
    assert stage.rank(index, np.arange(0), 3).targets.shape == (0, 3)


def test_rank_refuses_columns_of_another_version(language, learnt, index):
    ranker = dataclasses.replace(learnt.ranker, names=("csls.other", *learnt.ranker.names[1:]))
    stage = dataclasses.replace(learnt, ranker=ranker).bind(language.evidence)
    with pytest.raises(AlignmentError, match="made by another version of bilex"):
        stage.rank(index, np.arange(3), 5)
