"""The second stage learns from decisions: what it learns from, what stays, and what is on disk."""

import json
import shutil
from contextlib import closing

import numpy as np
import pytest
import torch

from bilex import Alignment
from bilex.errors import AlignmentError
from bilex.rerank.cross_fitting import ARRAYS
from bilex.run.corrections import Corrections
from bilex.run.files import LISTS, RELEARNT
from bilex.run.relearning import relearn
from bilex.run.reranker_file import digest, remove_relearnt, write_relearnt
from bilex.storage.array_file import read_arrays, write_arrays


@pytest.fixture(scope="module")
def right(alike):
    """Half of the test pairs, as a person would decide."""
    return list(alike.test)[::2]


@pytest.fixture(scope="module")
def learnt(reranked, right):
    return relearn(reranked, right)


@pytest.fixture
def saved(reranked, tmp_path):
    reranked.save(tmp_path / "run")
    return tmp_path / "run"


def weights(reranker):
    return [*reranker.ranker.weights.tolist(), *reranker.calibration.weights.reshape(-1).tolist()]


def test_learns_from_words_that_the_dictionary_does_not_have(reranked, learnt, right):
    before = reranked.reranker
    assert weights(learnt) != weights(before)
    assert learnt.decided.words == len(right)
    assert learnt.decided.before is learnt.original is before
    known = {tuple(pair) for pair in learnt.decided.pairs.tolist()}
    source, target = reranked.source.index, reranked.target.index
    assert {(source[s], target[t]) for s, t in [*right, *reranked.dictionary]} == known
    assert learnt.summary.words == before.summary.words, "people choose what they decide about, so it is not measured"


def test_the_other_words_are_ranked_at_least_as_well(reranked, alike, learnt, right):
    rest = [pair for pair in alike.test if pair not in right]
    before, after = (a.evaluate(rest).scores.p_at_1 for a in (reranked, reranked.reranked(learnt)))
    assert after >= before - 2


def test_the_mapping_and_the_vectors_stay(reranked, alike, learnt):
    word = alike.test.sources[1]
    again = reranked.reranked(learnt)
    assert again.translate(word, vectors_only=True) == reranked.translate(word, vectors_only=True)
    assert again.translate(word).confidences != reranked.translate(word).confidences


def test_rejections_lower_the_confidence(reranked, alike):
    found = reranked.translate([*alike.test.sources][:40], 1)
    refused = [(t.word, t.words[0]) for t in found]
    learnt = reranked.reranked(relearn(reranked, [], refused))
    words = [*alike.test.sources][40:]
    before, after = (np.mean([t.confidences[0] for t in a.translate(words, 1)]) for a in (reranked, learnt))
    assert after < before


def test_a_decision_about_a_word_of_the_dictionary_changes_what_is_right(reranked):
    """Its candidates stay those that were found without it: the mapping was trained on it."""
    pair, *_ = reranked.dictionary
    learnt = relearn(reranked, [], [pair])
    rows = [reranked.source.index[pair[0]], reranked.target.index[pair[1]]]
    assert rows not in learnt.decided.pairs.tolist()
    assert len(learnt.decided.pairs) == len(reranked.dictionary) - 1
    before, after = (stage.ranker.weights for stage in (reranked.reranker, learnt))
    assert after.tolist() != before.tolist()
    np.testing.assert_allclose(after, before, atol=0.05)


def test_what_confirms_the_dictionary_changes_nothing(reranked):
    """The same lists give the same stage, bit for bit: also after they were stored in single precision."""
    pair, *_ = reranked.dictionary
    assert weights(relearn(reranked, [pair])) == weights(reranked.reranker)


def test_the_order_of_decisions_has_no_effect(reranked, learnt, right):
    assert weights(relearn(reranked, right[::-1])) == weights(learnt)


def test_learning_again_begins_from_the_dictionary(reranked, learnt, right):
    assert weights(relearn(reranked.reranked(learnt), right)) == weights(learnt)
    assert relearn(reranked.reranked(learnt), right).original is reranked.reranker


def test_words_without_a_vector_are_left_out(reranked, right, learnt):
    more = [*right, ("nowhere", right[0][1]), (right[0][0], "nowhere")]
    assert weights(relearn(reranked, more)) == weights(learnt)


def test_without_decisions(reranked):
    with pytest.raises(AlignmentError, match="no decision about a word of the source table"):
        relearn(reranked, [("nowhere", "nothing")])


def test_without_a_second_stage(alignment, world):
    with pytest.raises(AlignmentError, match="needs a second stage, and this one has none"):
        relearn(alignment, list(world.test))


class TestFiles:
    def test_lists_come_back(self, saved, reranked):
        opened = Alignment.load(saved, device="cpu")
        for found, expected in zip(opened.reranker.lists, reranked.reranker.lists, strict=True):
            assert found.names == expected.names
            for name in ARRAYS:
                assert getattr(found, name).dtype == getattr(expected, name).dtype
                assert np.array_equal(getattr(found, name), getattr(expected, name))

    def test_learns_the_same_from_a_saved_run(self, saved, right, learnt):
        assert weights(relearn(Alignment.load(saved, device="cpu"), right)) == weights(learnt)

    def test_it_takes_the_place_of_the_saved_stage_until_it_is_removed(self, saved, learnt, reranked, alike):
        files = {path.name: path.read_bytes() for path in saved.iterdir() if path.is_file()}
        write_relearnt(learnt, saved)
        opened = Alignment.load(saved, device="cpu")
        assert digest(opened.reranker) == digest(learnt) != digest(reranked.reranker)
        assert digest(opened.reranker.original) == digest(reranked.reranker)
        assert opened.translate(alike.test.sources) == reranked.reranked(learnt).translate(alike.test.sources)
        assert remove_relearnt(saved)
        assert not remove_relearnt(saved)
        assert {path.name: path.read_bytes() for path in saved.iterdir() if path.is_file()} == files

    def test_saved_with_the_run(self, reranked, learnt, tmp_path):
        reranked.reranked(learnt).save(tmp_path / "again")
        opened = Alignment.load(tmp_path / "again", device="cpu")
        assert weights(opened.reranker) == weights(learnt)
        assert weights(opened.reranker.original) == weights(reranked.reranker)

    def test_of_another_run(self, saved, learnt):
        write_relearnt(learnt, saved)
        description = saved / "alignment.json"
        description.write_text(json.dumps({**json.loads(description.read_text()), "more": 1}))
        with pytest.raises(AlignmentError, match=r"with-decisions.*belongs to another run; remove it"):
            Alignment.load(saved)

    @pytest.mark.parametrize("name", ["ranker.weights", "pairs", "calibration.means"])
    def test_a_damaged_one_is_refused(self, saved, learnt, name):
        write_relearnt(learnt, saved)
        arrays, notes = read_arrays(saved / RELEARNT)
        write_arrays(saved / RELEARNT, {**arrays, name: arrays[name][:-1].reshape(-1)}, notes)
        with pytest.raises(AlignmentError, match=r"damaged.*remove it"):
            Alignment.load(saved)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("folds", lambda a: a + 1),
            ("sources", lambda a: a + 10**6),
            ("targets", lambda a: a - 10**6),
            ("features", lambda a: a * torch.nan),
            ("gold", lambda a: a.int()),
        ],
    )
    def test_damaged_lists_are_refused(self, saved, name, change):
        from bilex.retrieval.sides import Sides
        from bilex.run.lists_file import read_lists

        arrays, notes = read_arrays(saved / LISTS)
        write_arrays(saved / LISTS, {**arrays, name: change(arrays[name])}, notes)
        with pytest.raises(AlignmentError, match="damaged"):
            read_lists(saved / LISTS, Sides(500, 500))

    def test_a_run_of_an_earlier_version_has_no_lists(self, saved, right):
        (saved / LISTS).unlink()
        description = json.loads((saved / "alignment.json").read_text())
        del description["files"][LISTS]
        (saved / "alignment.json").write_text(json.dumps(description))
        opened = Alignment.load(saved)
        assert opened.reranker.lists == ()
        with pytest.raises(AlignmentError, match="an earlier version of bilex made"):
            relearn(opened, right)

    def test_nothing_is_left_if_it_cannot_be_written(self, saved, learnt, monkeypatch):
        def full(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("bilex.run.reranker_file.write_arrays", full)
        with pytest.raises(AlignmentError, match="cannot be written"):
            write_relearnt(learnt, saved)
        assert Alignment.load(saved).reranker.decided is None


class TestAlignment:
    def test_relearnt_from_a_run(self, saved, right, learnt, reranked):
        with closing(Corrections(saved / "corrections.sqlite")) as corrections:
            for source, target in right:
                corrections.decide(source, target, "accepted")
        assert weights(reranked.relearnt(saved).reranker) == weights(learnt)

    def test_evaluation_tells_of_words_that_it_has_learnt_from(self, reranked, learnt, alike, right):
        assert reranked.evaluate(alike.test).train_overlap == 0
        again = reranked.reranked(learnt)
        assert again.evaluate(alike.test).train_overlap == len(right)
        assert again.evaluate(alike.test, vectors_only=True).train_overlap == 0

    def test_a_run_with_it_can_be_replaced(self, saved, learnt, reranked):
        write_relearnt(learnt, saved)
        reranked.save(saved, replace=True)
        assert not (saved / RELEARNT).exists()

    def test_a_copy_has_it_too(self, saved, learnt, tmp_path):
        write_relearnt(learnt, saved)
        copy = shutil.copytree(saved, tmp_path / "copy")
        assert Alignment.load(copy).reranker.decided.words == learnt.decided.words
