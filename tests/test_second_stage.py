"""Alignments with a second stage: translations, lexicons, evaluation, and the run folder."""

import json
import math

import numpy as np
import pytest

from bilex import CSLS, Alignment, Nearest, align
from bilex.entry import Entry
from bilex.errors import AlignmentError
from bilex.run.second_stage import most_confident


@pytest.fixture(scope="module")
def saved(reranked, tmp_path_factory):
    folder = tmp_path_factory.mktemp("second") / "run"
    reranked.save(folder)
    return folder


class TestAlign:
    def test_a_dictionary_brings_a_second_stage(self, reranked):
        assert reranked.reranker.summary.gain > 10
        assert reranked.provenance["held_out"] is not None

    def test_vectors_only(self, alike, reranked):
        plain = align(alike.source, alike.target, alike.train, method="procrustes", vectors_only=True)
        assert plain.reranker is None
        assert plain.mapping.source_matrix.tolist() == reranked.mapping.source_matrix.tolist()

    def test_a_small_dictionary_brings_none(self, alignment):
        assert alignment.reranker is None
        assert alignment.stage() is None

    def test_another_mapping_has_none(self, reranked, alike):
        assert reranked.refitted(reranked.mapping, train=alike.train, dev=None).reranker is None


class TestTranslate:
    def test_finds_more_and_is_confident(self, reranked, alike):
        words, right = zip(*alike.test, strict=True)
        found = reranked.translate(words, 3)
        plain = reranked.translate(words, 3, vectors_only=True)
        hits, before = (
            sum(t.words[0] == r for t, r in zip(translations, right, strict=True)) for translations in (found, plain)
        )
        assert hits > before + 10
        assert all(len(t.confidences) == 3 and 0 <= min(t.confidences) <= max(t.confidences) <= 1 for t in found)
        assert all(t.confidences == () for t in plain)

    def test_any_right_is_that_of_the_candidates_shown(self, reranked, alike):
        words, right = zip(*alike.test, strict=True)
        one, three = (reranked.translate(words, n) for n in (1, 3))
        assert all(t.any_right == pytest.approx(t.confidences[0], abs=1e-6) for t in one)
        assert all(a.any_right <= b.any_right <= 1 for a, b in zip(one, three, strict=True))
        found = np.array([r in t.words for t, r in zip(three, right, strict=True)])
        assert np.mean([t.any_right for t in three]) == pytest.approx(found.mean(), abs=0.1)
        assert reranked.translate(words[0], vectors_only=True).any_right is None
        assert reranked.translate("nowhere").any_right is None

    def test_shows_probabilities(self, reranked, alike):
        translation = reranked.translate(alike.test.sources[0], 2)
        assert translation.figures == [f"{100 * p:.0f} %" for p in translation.confidences]
        assert translation.figures[0] in repr(translation)
        assert "probability" in translation._repr_html_()

    def test_scores_stay_those_of_the_vectors(self, reranked, alike):
        word = alike.test.sources[0]
        scores = {c.word: c.score for c in reranked.translate(word, 500, vectors_only=True).candidates}
        for candidate in reranked.translate(word, 5).candidates:
            assert candidate.score == pytest.approx(scores[candidate.word], abs=1e-5)

    def test_not_backward_and_not_by_another_retrieval(self, reranked, alike):
        assert reranked.translate(alike.target.words[0], direction="backward").confidences == ()
        assert reranked.translate(alike.source.words[0], retrieval=Nearest()).confidences == ()
        assert reranked.translate(alike.source.words[0], retrieval=CSLS(k=3)).confidences == ()
        assert len(reranked.translate(alike.source.words[0], retrieval=CSLS()).confidences) == 10

    def test_unknown_words_stay_in_their_place(self, reranked, alike):
        known = alike.source.words[3]
        found = reranked.translate(["nowhere", known, "nowhere"], 2)
        assert [len(t.candidates) for t in found] == [0, 2, 0]
        assert found[1] == reranked.translate(known, 2)

    def test_none_of_them_known(self, reranked):
        assert reranked.translate(["nowhere"])[0].through is None


class TestExplain:
    def test_shares_give_the_order(self, reranked, alike):
        word = alike.test.sources[0]
        found = reranked.explain(word, 5)
        assert [candidate for candidate, _ in found] == reranked.translate(word, 5).words
        scores = [sum(shares.values()) for _, shares in found]
        assert scores == sorted(scores, reverse=True)
        assert set(found[0][1]) == set(reranked.reranker.signals)

    def test_spelling_speaks_for_words_that_are_alike(self, reranked, alike):
        word, right = next((s, t) for s, t in alike.test if s[:-1] == t[:-2])
        shares = dict(reranked.explain(word, 20))[right]
        assert sum(shares[name] for name in ("spelling", "transliteration", "identity")) > 1

    def test_nothing_to_explain(self, reranked, alignment):
        assert reranked.explain("nowhere") == []
        assert alignment.explain("s1") == []


class TestInduce:
    def test_first_translations_agree_with_translate(self, reranked, alike):
        entries = reranked.induce(given=False)
        assert len(entries) == len(alike.source)
        for entry in entries[:20]:
            translation = reranked.translate(entry.source, 1)
            assert (entry.target, entry.confidence) == (translation.words[0], pytest.approx(translation.confidences[0]))

    def test_any_right_is_that_of_all_that_are_ranked(self, reranked):
        first, several = (reranked.induce(n=n, given=False) for n in (1, 5))
        known = {entry.source: entry.any_right for entry in first}
        assert all(entry.confidence <= entry.any_right + 1e-6 for entry in first)
        assert all(entry.any_right == known[entry.source] for entry in several)
        assert math.isnan(reranked.induce(vectors_only=True, given=False)[0].any_right)

    def test_n_is_a_maximum(self, reranked, alike):
        entries = reranked.induce(n=5, given=False)
        least = reranked.reranker.summary.min_confidence
        assert all(entry.confidence >= least for entry in entries if entry.rank > 1)
        assert len(alike.source) <= len(entries) < 5 * len(alike.source)

    def test_min_confidence(self, reranked):
        entries = reranked.induce(given=False, min_confidence=0.9)
        assert 0 < len(entries) < len(reranked.source)
        assert min(entry.confidence for entry in entries) >= 0.9

    def test_expected_precision(self, reranked, alike):
        entries = reranked.induce(given=False, expected_precision=0.97)
        mean = np.mean([entry.confidence for entry in entries])
        assert 0.97 <= mean < 1
        more = [entry.confidence for entry in reranked.induce(given=False)]
        worse = sorted(more, reverse=True)[: len(entries) + 1]
        assert len(more) == len(entries) or np.mean(worse) < 0.97
        right = set(alike.train) | set(alike.test)
        assert np.mean([(entry.source, entry.target) in right for entry in entries]) > 0.9

    def test_the_dictionary_stays(self, reranked, alike):
        entries = reranked.induce(min_confidence=1.0)
        assert [(e.source, e.target) for e in entries if e.origin == "given"] == list(alike.train)

    def test_mutual(self, reranked):
        entries = reranked.induce(given=False, mutual=True)
        plain = reranked.induce(given=False)
        assert 0 < len(entries) < len(plain)
        assert {(e.source, e.target) for e in entries} <= {(e.source, e.target) for e in plain}

    def test_max_rank(self, reranked):
        entries = reranked.induce(given=False, max_rank=40)
        first = set(reranked.target.words[:40])
        assert len(entries) == 40
        assert all(entry.target in first for entry in entries)

    def test_vectors_only(self, reranked):
        assert all(math.isnan(entry.confidence) for entry in reranked.induce(given=False, vectors_only=True))

    @pytest.mark.parametrize("more", [{"vectors_only": True}, {"direction": "backward"}, {"retrieval": Nearest()}])
    def test_probabilities_need_a_second_stage(self, reranked, more):
        with pytest.raises(AlignmentError, match="`min_confidence` and `expected_precision` need probabilities"):
            reranked.induce(min_confidence=0.5, **more)

    def test_most_confident_by_hand(self):
        found = [Entry("a", "x", 0, 1, "found", p) for p in (0.9, 0.5, 1.0, 0.1)] + [Entry("b", "y", 0, 1, "given")]
        assert [e.confidence for e in most_confident(found, min_confidence=0.5, expected_precision=None)[:-1]] == [
            0.9,
            0.5,
            1.0,
        ]
        kept = most_confident(found, min_confidence=None, expected_precision=0.79)
        assert [e.confidence for e in kept[:-1]] == [0.9, 0.5, 1.0]  # their mean is 0.8
        assert [e.origin for e in most_confident(found, min_confidence=None, expected_precision=1.1)] == ["given"]


class TestEvaluate:
    def test_both_are_reported(self, reranked, alike):
        result, plain = reranked.evaluate(alike.test), reranked.evaluate(alike.test, vectors_only=True)
        assert result.vectors_only == plain
        assert plain.vectors_only is None
        assert result.scores.p_at_1 > plain.scores.p_at_1 + 10
        assert result.calibration_error < 0.15
        found = json.loads(json.dumps(result.to_json()))
        assert found["p_at_1"] == result.scores.p_at_1
        assert found["vectors_only"]["p_at_1"] == plain.scores.p_at_1
        assert "vectors_only" not in plain.to_json()
        assert "vectors only" in repr(result)

    def test_ranks_are_those_of_translate(self, reranked, alike):
        result = reranked.evaluate(alike.test)
        candidates, right = reranked.reranker.candidates, alike.test.targets_of()
        for word in alike.test.sources[:30]:
            listed = reranked.translate(word, candidates).words
            if set(right[word]) & set(listed):
                assert result.ranks[word] == 1 + min(map(listed.index, set(right[word]) & set(listed)))
            else:
                assert result.ranks[word] == result.vectors_only.ranks[word] > candidates


class TestRunFolder:
    def test_the_same_after_saving(self, reranked, saved, alike):
        loaded = Alignment.load(saved)
        assert loaded.reranker.summary == reranked.reranker.summary
        assert loaded.reranker.signals == reranked.reranker.signals
        words = alike.test.sources[:10]
        assert loaded.translate(words, 4) == reranked.translate(words, 4)

    def test_a_run_without_it_can_be_opened(self, alignment, tmp_path):
        alignment.save(tmp_path / "run")
        file = tmp_path / "run" / "alignment.json"
        description = json.loads(file.read_text(encoding="utf-8"))
        assert description.pop("second_stage") is None  # as in runs of earlier versions
        file.write_text(json.dumps(description), encoding="utf-8")
        assert Alignment.load(tmp_path / "run").reranker is None

    @pytest.mark.parametrize("change", ["weights", "missing", "signal", "columns"])
    def test_damage_is_refused(self, reranked, tmp_path, change):
        run = tmp_path / "run"
        reranked.save(run)
        file, description = run / "reranker.safetensors", json.loads((run / "alignment.json").read_text("utf-8"))
        if change == "missing":
            file.unlink()
        elif change == "weights":
            data = bytearray(file.read_bytes())
            data[-3] ^= 255
            file.write_bytes(data)
        else:
            key, value = ("signals", "sound") if change == "signal" else ("columns", "sound.alike")
            description["second_stage"][key].append(value)
            (run / "alignment.json").write_text(json.dumps(description), encoding="utf-8")
        with pytest.raises(AlignmentError, match=r"reranker\.safetensors|signal 'sound'"):
            Alignment.load(run)
