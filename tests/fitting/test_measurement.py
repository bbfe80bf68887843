import dataclasses

import pytest
import torch

from bilex import Alignment, EmbeddingTable, align, get_method
from bilex.evaluation.held_out import Agreement, HeldOut, held_out_record
from bilex.fitting import measurement
from bilex.fitting.fit import fit
from bilex.fitting.inputs import collect
from bilex.fitting.measurement import hold_out, measure_agreement, measure_held_out

RAPO = {"method": "rapo", "epochs": 2, "hard": 8, "start": "random", "learning_rate": 0.03, "batch": 16}


def made(world, method, **more):
    """An alignment that was measured, and its inputs."""
    inputs = collect(*world[:3], method=get_method(method) if isinstance(method, str) else method, **more)
    return fit(inputs, measured=True), inputs


class TestSecondFit:
    """What a closed form that trains on the whole dictionary would be worth without some of it."""

    def test_is_that_of_the_same_method_on_the_rest(self, world):
        alignment, inputs = made(world, "procrustes")
        rest, without = hold_out(inputs)
        result = align(world.source, world.target, rest, method="procrustes").evaluate(without)
        expected = HeldOut(words=8, **dataclasses.asdict(result.scores), way="second fit")
        assert alignment.held_out == expected
        assert (len(without.sources), alignment.agreement) == (8, None)

    def test_changes_nothing_of_the_alignment(self, world):
        measured, inputs = made(world, "procrustes")
        plain = fit(inputs)
        assert plain.held_out is None
        assert torch.equal(measured.source_rows, plain.source_rows)
        assert (measured.train, measured.dev) == (world.train, None)

    def test_is_left_out_if_too_little_remains(self, world):
        few = world._replace(train=type(world.train).from_pairs(world.train.pairs[:1]))
        alignment, _ = made(few, "procrustes")
        assert alignment.held_out is None
        assert alignment.agreement is not None

    def test_is_left_out_where_it_would_take_long(self, world, monkeypatch):
        monkeypatch.setattr(measurement, "MAX_WORD_PAIRS", len(world.source) * len(world.target) - 1)
        assert made(world, "procrustes")[0].held_out is None

    def test_a_decomposition_that_fails_leaves_it_out(self, world, monkeypatch):
        inputs = collect(*world[:3], method="procrustes")
        alignment = fit(inputs)

        def fail(*_, **__):
            raise torch.linalg.LinAlgError("it did not converge")

        monkeypatch.setattr("bilex.methods.procrustes.Procrustes.fit", fail)
        assert measure_held_out(alignment, inputs) is None


class TestWordsThatWereChosenWith:
    def test_what_a_method_has_said_before_it_learnt_them(self, world):
        found = align(*world[:3], **RAPO, shift=0)
        (record,) = [record for record in found.trace.records if record["stage"] == "held_out"]
        (chosen,) = [
            record
            for record in found.trace.records
            if record["stage"] == "choose"
            and record["dev_p_at_1"] == record["dev_p_at_1"]
            and record["epoch"] == next(r["chosen"] for r in found.trace.records if r["stage"] == "refit")
        ]
        assert found.held_out == HeldOut.read({**record, "way": "before they were learnt"})
        assert (found.held_out.words, found.held_out.p_at_1) == (len(found.dev.sources), chosen["dev_p_at_1"])

    def test_words_that_were_never_learnt_are_evaluated(self, world):
        found = align(*world[:3], **RAPO, refit=False)
        expected = found.evaluate(found.dev)
        assert found.held_out.way == "never learnt"
        assert (found.held_out.words, found.held_out.mrr) == (8, expected.scores.mrr)

    def test_a_dev_dictionary_that_nothing_learns(self, world):
        found = align(*world[:3], dev=world.test, method="procrustes")
        assert found.held_out.way == "never learnt"
        assert found.held_out.p_at_1 == found.evaluate(world.test).scores.p_at_1

    def test_a_method_of_rounds_says_it_too(self, world):
        settings = {"rounds": 1, "base": "procrustes", "min_dev_words": 3}
        found = align(*world[:3], method="self_learning", **settings)
        assert found.held_out.way == "before they were learnt"
        assert found.held_out.words == 8

    def test_nothing_is_said_where_they_were_too_few_to_choose_with(self, world):
        found = align(*world[:3], method="self_learning", rounds=1, base="procrustes")
        assert found.held_out is None
        assert found.agreement is not None


def test_a_record_has_the_figures_of_the_ranks():
    record = held_out_record("spy", torch.tensor([1.0, 2.0, 7.0, 1.0 / 0.05]))
    assert record == {
        "stage": "held_out", "method": "spy", "words": 4,
        "p_at_1": 25.0, "p_at_5": 50.0, "p_at_10": 75.0, "mrr": pytest.approx((1 + 1 / 2 + 1 / 7 + 1 / 20) / 4),
    }  # fmt: skip


class TestAgreement:
    def test_of_one_language_with_itself_is_full(self, exact):
        found = measure_agreement(align(*exact[:3], method="procrustes"))
        assert found == Agreement(words=160, percent=100.0)

    def test_only_frequent_words_count(self, exact):
        assert measure_agreement(align(*exact[:3], method="procrustes"), 50).words == 50

    def test_of_a_map_that_is_wrong_is_lower(self, world):
        generator = torch.Generator().manual_seed(1)
        target = EmbeddingTable(world.target.words, torch.randn(160, 12, generator=generator).numpy())
        assert measure_agreement(align(world.source, target, world.train, method="procrustes")).percent < 60


def test_it_is_kept_with_a_run(world, tmp_path):
    for name, more in (("held-out", {"train": world.train}), ("agreement", {"method": "vecmap_unsupervised"})):
        found = align(world.source, world.target, **({"fast": True} if "train" in more else {}), **more)
        found.save(tmp_path / name)
        opened = Alignment.load(tmp_path / name)
        assert (opened.held_out, opened.agreement) == (found.held_out, found.agreement)
        assert (found.held_out is None) == (name == "agreement")
        assert (found.agreement is None) == (name == "held-out")
