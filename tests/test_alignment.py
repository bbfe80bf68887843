import dataclasses

import numpy as np
import pytest
import torch

from bilex import CSLS, EmbeddingTable, InvertedSoftmax, Lexicon, Nearest, align
from bilex.errors import LexiconError, SettingsError, TableError
from bilex.mapping import LinearMapping, Mapping

RETRIEVALS = [CSLS(), Nearest(), InvertedSoftmax()]
DIRECTIONS = ["forward", "backward"]


@pytest.fixture(scope="module")
def perfect(exact):
    return align(exact.source, exact.target, exact.train, method="procrustes")


def slow_csls(a, b, k=10):
    cosines = a.double() @ b.double().T
    r_a, r_b = cosines.topk(k, 1).values.mean(1), cosines.topk(k, 0).values.mean(0)
    return 2 * cosines - r_a[:, None] - r_b


class TestTranslate:
    @pytest.mark.parametrize("retrieval", RETRIEVALS, ids=repr)
    def test_finds_the_word_of_an_exact_rotation(self, exact, perfect, retrieval):
        sources, targets = zip(*exact.test, strict=True)
        found = perfect.translate(sources, 1, retrieval=retrieval)
        assert tuple(t.candidates[0].word for t in found) == targets
        found = perfect.translate(targets, 1, retrieval=retrieval, direction="backward")
        assert tuple(t.candidates[0].word for t in found) == sources

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_scores_are_csls(self, alignment, direction):
        x, z = alignment.source_rows, alignment.target_rows
        scores = slow_csls(x, z) if direction == "forward" else slow_csls(z, x)
        letter, other = ("s", "t") if direction == "forward" else ("t", "s")
        (found,) = alignment.translate([f"{letter}7"], 6, direction=direction)
        best = scores[7].topk(6)
        assert [c.word for c in found.candidates] == [f"{other}{j}" for j in best.indices.tolist()]
        assert [c.score for c in found.candidates] == pytest.approx(best.values.tolist(), abs=1e-5)

    def test_a_word_gets_the_same_alone_and_among_others(self, alignment):
        together = alignment.translate([f"s{i}" for i in range(30)])
        for i in (0, 17):
            (alone,) = alignment.translate([f"s{i}"])
            assert [c.word for c in alone.candidates] == [c.word for c in together[i].candidates]

    def test_keeps_the_order_and_says_what_is_unknown(self, alignment):
        found = alignment.translate(["s1", "nowhere", "s0", "s1"], 2)
        assert [(t.word, t.through, len(t.candidates)) for t in found] == [
            ("s1", "table", 2),
            ("nowhere", None, 0),
            ("s0", "table", 2),
            ("s1", "table", 2),
        ]
        assert [c.word for c in found[0].candidates] == [c.word for c in found[3].candidates]
        assert [t.through for t in alignment.translate(["nowhere"])] == [None]
        assert alignment.translate([]) == []

    def test_a_string_is_one_word(self, alignment):
        found = alignment.translate("s17", 3)
        assert found == alignment.translate(["s17"], 3)[0]
        assert found.words == [candidate.word for candidate in found.candidates]
        assert alignment.translate("nowhere").words == []
        assert alignment.translate(word for word in ("s1", "s2")) == alignment.translate(["s1", "s2"])
        with pytest.raises(SettingsError, match=r"words: found 5 \(int\); needed a string, or several"):
            alignment.translate(5)
        with pytest.raises(SettingsError, match="words: number 2 is None"):
            alignment.translate(["s1", None])

    def test_more_than_there_are(self, alignment, world):
        assert len(alignment.translate(["s0"], 10_000)[0].candidates) == len(world.target)

    def test_through_subwords(self, world):
        table = dataclasses.replace(world.source, subwords=lambda word: world.source.vector(word.lower()))
        made = align(table, world.target, world.train, method="procrustes")
        through, plain = made.translate(["S5", "s5"])
        assert (through.through, plain.through) == ("subwords", "table")
        assert [c.word for c in through.candidates] == [c.word for c in plain.candidates]
        assert [c.score for c in through.candidates] == pytest.approx([c.score for c in plain.candidates], abs=1e-5)
        assert made.translate(["t5"], direction="backward")[0].through == "table"

    def test_new_rows_are_normalized_as_the_table_was(self, world, alignment):
        rows = torch.from_numpy(world.source.rows[[3, 8]])
        torch.testing.assert_close(alignment.map_rows(rows), alignment.source_rows[[3, 8]])
        rows = torch.from_numpy(world.target.rows[[3, 8]])
        torch.testing.assert_close(alignment.map_rows(rows, "target"), alignment.target_rows[[3, 8]])

    @pytest.mark.parametrize("side", ["source", "target"])
    def test_new_rows_are_mapped_among_those_of_their_table(self, world, alignment, side, monkeypatch):
        monkeypatch.setattr(Mapping, "kinds", dict(Mapping.kinds))

        class Centred(LinearMapping, kind="centred"):
            def source(self, rows, *, among=None):
                return rows - (rows if among is None else among).mean(0)

            target = source

        made = alignment.refitted(Centred(source_matrix=torch.eye(12)), train=world.train, dev=None)
        rows = torch.from_numpy(getattr(world, side).rows[[3, 8]])
        torch.testing.assert_close(made.map_rows(rows, side), getattr(made, f"{side}_rows")[[3, 8]])


class TestInduce:
    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize("retrieval", RETRIEVALS, ids=repr)
    def test_agrees_with_translate(self, alignment, world, retrieval, direction):
        words = (world.source if direction == "forward" else world.target).words
        entries = alignment.induce(n=3, retrieval=retrieval, direction=direction, given=False)
        found = alignment.translate(words, 3, retrieval=retrieval, direction=direction)
        expected = [(t.word, c.word, rank) for t in found for rank, c in enumerate(t.candidates, 1)]
        assert [(e.source, e.target, e.rank) for e in entries] == expected
        scores = [c.score for t in found for c in t.candidates]
        assert [e.score for e in entries] == pytest.approx(scores, abs=1e-5)

    @pytest.mark.parametrize("max_rank", [None, 40, 10_000])
    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_mutual_is_both_ways_best(self, alignment, direction, max_rank):
        back = "backward" if direction == "forward" else "forward"
        there, here = (
            {(e.source, e.target) for e in alignment.induce(max_rank=max_rank, direction=way, given=False)}
            for way in (direction, back)
        )
        mutual = alignment.induce(mutual=True, max_rank=max_rank, direction=direction, given=False)
        assert {(e.source, e.target) for e in mutual} == there & {(t, s) for s, t in here}
        assert 0 < len(mutual) < len(there)
        assert all(e.rank == 1 for e in mutual)

    def test_max_rank_bounds_both_sides_but_not_the_penalties(self, alignment):
        entries = alignment.induce(max_rank=40, given=False)
        scores = slow_csls(alignment.source_rows, alignment.target_rows)[:40, :40]
        assert [(e.source, e.target) for e in entries] == [
            (f"s{i}", f"t{j}") for i, j in enumerate(scores.argmax(1).tolist())
        ]

    def test_an_exact_rotation_is_induced_whole(self, exact, perfect):
        entries = perfect.induce(mutual=True)
        assert {(e.source, e.target) for e in entries} == {*exact.train, *exact.test}
        assert [e.source for e in entries] == exact.source.words


class TestEvaluate:
    def test_both_directions(self, exact, perfect):
        assert perfect.evaluate(exact.test).scores.p_at_1 == 100
        assert perfect.evaluate(exact.test.swapped(), direction="backward").scores.p_at_1 == 100

    def test_a_dictionary_that_runs_the_other_way(self, exact, perfect):
        with pytest.raises(LexiconError, match="seems to run from target to source"):
            perfect.evaluate(exact.test.swapped())

    def test_says_how_much_was_trained_on(self, exact, perfect):
        mixed = Lexicon.from_pairs([*list(exact.train)[:7], *exact.test])
        assert perfect.evaluate(mixed).train_overlap == 7
        assert perfect.evaluate(mixed.swapped(), direction="backward").train_overlap == 7

    def test_says_how_much_was_trained_on_when_case_is_folded(self, exact, perfect):
        upper = Lexicon.from_pairs((source.upper(), target) for source, target in exact.train)
        assert perfect.evaluate(upper, fold_case=True).train_overlap == len(exact.train)

    def test_dictionaries_in_any_form(self, exact, perfect, tmp_path):
        exact.test.write(tmp_path / "test.tsv")
        expected = perfect.evaluate(exact.test)
        for given in (tmp_path / "test.tsv", str(tmp_path / "test.tsv"), list(exact.test), exact.test.targets_of()):
            assert perfect.evaluate(given) == expected
        with pytest.raises(LexiconError, match=r"found 5 \(int\); needed pairs"):
            perfect.evaluate(5)

    def test_fold_case(self, exact, perfect):
        upper = Lexicon.from_pairs((source.upper(), target) for source, target in exact.test)
        assert perfect.evaluate(upper, fold_case=True).scores.p_at_1 == 100

    def test_progress_is_told(self, exact):
        heard = []
        made = align(exact.source, exact.target, exact.train, method="procrustes")
        made.evaluate(exact.test, progress=lambda *state: heard.append(state))
        assert heard[-1] == (160, 160)

    def test_every_caller_is_told_of_progress(self, exact):
        made = align(exact.source, exact.target, exact.train, method="procrustes")
        for _ in range(2):
            heard = []
            made.induce(progress=lambda *state, heard=heard: heard.append(state))
            assert heard[-1] == (160, 160)

    def test_hubness(self, perfect):
        assert perfect.hubness(k=3).k == 3


class TestExport:
    @pytest.mark.parametrize("suffix", [".vec", ".safetensors"])
    def test_mapped_rows_of_length_1(self, world, alignment, tmp_path, suffix):
        alignment.export(tmp_path / f"x{suffix}", tmp_path / f"z{suffix}")
        x, z = (EmbeddingTable.read(tmp_path / f"{side}{suffix}") for side in "xz")
        assert (x.words, z.words) == (world.source.words, world.target.words)
        np.testing.assert_allclose(x.rows, alignment.source_rows.numpy(), atol=1e-6)
        np.testing.assert_allclose(z.rows, alignment.target_rows.numpy(), atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(x.rows, axis=1), 1, atol=1e-5)

    def test_one_side_only(self, alignment, tmp_path):
        alignment.export(target=tmp_path / "z.vec")
        assert [path.name for path in tmp_path.iterdir()] == ["z.vec"]

    def test_apply_maps_another_table(self, world, alignment):
        some = EmbeddingTable(["p", "q"], world.source.rows[[4, 2]])
        mapped = alignment.apply(some)
        assert mapped.words == ["p", "q"]
        np.testing.assert_allclose(mapped.rows, alignment.source_rows[[4, 2]].numpy(), atol=1e-6)
        same = alignment.apply((["p", "q"], world.source.rows[[4, 2]]))
        np.testing.assert_array_equal(same.rows, mapped.rows)
        with pytest.raises(TableError, match="the table has 3 dimensions; the target side of this alignment has 12"):
            alignment.apply(EmbeddingTable(["p"], np.ones((1, 3), np.float32)), "target")


def test_an_alignment_is_not_changed(alignment):
    with pytest.raises(dataclasses.FrozenInstanceError):
        alignment.train = None


def test_another_mapping_of_the_same_normalized_tables(world):
    alignment = align(world.source, world.target, world.train, method="procrustes")
    ridge = align(world.source, world.target, world.train, method="ridge")
    other = alignment.refitted(ridge.mapping, train=world.test, dev=world.train)
    assert other.normalized("source") is alignment.normalized("source")
    assert other.normalized("target") is alignment.normalized("target")
    assert torch.equal(other.source_rows, ridge.source_rows)
    assert not torch.equal(other.source_rows, alignment.source_rows)
    assert (other.train, other.dev) == (world.test, world.train)
