import pytest
import torch

from bilex import AlignmentError, SettingsError, get_method
from bilex.errors import BilexError
from bilex.induction.induction import InducedPairs, Induction
from bilex.mapping import LinearMapping
from bilex.methods.ridge import Ridge
from bilex.methods.self_learning import SelfLearning, _Rounds
from bilex.normalize import unit
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.training.checkpoint import CHECKPOINT, NO_CHECKPOINT, Checkpoint
from bilex.training.trace import Trace

QUICK = {
    "rapo_semi": {
        "base.batch": "16",
        "base.hard": "8",
        "base.epochs": "2",
        "enlarge_below": "1",
        "min_dev_words": "1",
        "rounds": "2",
    },
    "self_learning": {"base": "procrustes", "rounds": "2", "induction.keep_probability": "0.5", "min_dev_words": "1"},
    "geomm_semi": {"rounds": "2", "patience": "none", "min_dev_words": "1"},
}


def fit(given, name="self_learning", *, trace=None, checkpoint=NO_CHECKPOINT, dev=True, rng_seed=0, **settings):
    x, z, train, held_out = given
    train = train[:40]
    return get_method(name, {**QUICK[name], **settings}).fit(
        x,
        z,
        train,
        dev=held_out if dev else None,
        generator=torch.Generator().manual_seed(rng_seed),
        trace=trace or Trace(),
        checkpoint=checkpoint,
    )


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("dev", [True, False])
def test_killed_and_resumed_is_the_same_to_the_bit(given, check_resuming, name, dev):
    """Between rounds and inside them; all randomness must come from the checkpoint, whatever the seed."""
    whole = check_resuming(lambda **more: fit(given, name, dev=dev, **more), rng_seed=9)
    assert [record["round"] for record in whole.records if "induced" in record] == ([0, 1] if dev else [0, 1, 2])


class PowerCutError(Exception):
    """The power cut."""


@pytest.mark.parametrize(("name", "some"), [("self_learning", ""), ("rapo_semi", "part.kept.")])
def test_damaged_checkpoints_are_refused(given, tmp_path, damages, name, some):
    """Whoever has written them: their checksum is right. What is not refused gives a map of finite numbers."""

    def stop(record):
        if record.get("round") == 1 and record.get("epoch", 1) == 1 and record.get("stage") != "start":
            raise PowerCutError

    with pytest.raises(PowerCutError):
        fit(given, name, trace=Trace(stop), checkpoint=Checkpoint(tmp_path))
    arrays, notes = read_arrays(tmp_path / CHECKPOINT)
    chosen = {key: array for key, array in arrays.items() if key.startswith(some)}
    assert chosen
    for key, array in chosen.items():
        for damage, damaged in damages(array):
            others = {other: values for other, values in arrays.items() if other != key}
            write_arrays(tmp_path / CHECKPOINT, others | ({} if damaged is None else {key: damaged}), notes)
            try:
                mapping = fit(given, name, checkpoint=Checkpoint(tmp_path))
            except BilexError:
                continue
            assert damage not in ("nan", "inf", "rank", "type"), (key, damage)
            assert damage not in ("far", "negative") or "generator" in key or key == "numbers", (key, damage)
            assert all(array.isfinite().all() for array in mapping.arrays().values()), (key, damage)


@pytest.mark.parametrize("dev", [True, False])
def test_rounds_are_told(given, dev):
    trace = Trace()
    fit(given, trace=trace, dev=dev, **{"induction.keep_probability": "1"})
    rounds = [record for record in trace.records if "induced" in record]
    assert [record["round"] for record in rounds] == ([0, 1] if dev else [0, 1, 2])
    assert rounds[0]["pairs"] == 40
    assert rounds[1]["pairs"] == 40 + rounds[0]["induced"]
    assert all(("dev_mrr" if dev else "mean_cosine") in record for record in rounds)
    assert [r["kept_round"] in (0, 1, 2) for r in trace.records if "kept_round" in r] == [True]


@pytest.mark.parametrize("dev", [True, False])
@pytest.mark.parametrize("patience", [1, 3])
def test_ends_after_rounds_without_a_new_best(given, dev, patience):
    trace = Trace()
    fit(given, trace=trace, dev=dev, patience=str(patience), rounds="30", **{"induction.keep_probability": "1"})
    scores = [record["dev_mrr" if dev else "mean_cosine"] for record in trace.records if "induced" in record]
    best = scores.index(max(scores))
    assert len(scores) == best + 1 + patience < 30


def test_killed_while_patient(given, check_resuming):
    whole = check_resuming(lambda **more: fit(given, patience="1", rounds="9", **more), rng_seed=9)
    assert sum("induced" in record for record in whole.records) < 10


def test_more_pairs_make_a_better_map(given):
    """A dozen pairs of twelve dimensions, with noise: what self-learning is for. Each step saves a tenth."""
    x, z, train, test = given
    few = x, z, train[:13], test
    base = get_method("procrustes").fit(x, z, train[:13])
    learnt = [fit(few, dev=False, rounds=rounds, **{"induction.keep_probability": "1"}) for rounds in ("1", "5")]
    errors = []
    for mapping in (base, *learnt):
        mapped = unit(mapping.source(x)), unit(mapping.target(z))
        errors.append(float((1 - (mapped[0][test[:, 0]] * mapped[1][test[:, 1]]).sum(1)).mean()))
    assert errors[1] < 0.9 * errors[0]
    assert errors[2] < 0.9 * errors[1]


def test_without_dev_more_of_the_pairs_are_taken_from_round_to_round(given):
    """The most confident, up to all."""
    x, z, train, _ = given
    trace, few = Trace(), train[:40]
    fit(
        given,
        trace=trace,
        dev=False,
        rounds="3",
        precision="0.9",
        min_share="0.4",
        **{"induction.keep_probability": "1"},
    )
    pairs, told = few, [record["induced"] for record in trace.records if "induced" in record]
    for share, count in zip((0.55, 0.7, 0.85, 1.0), told, strict=True):
        mapping = get_method("procrustes").fit(x, z, pairs)
        found = Induction()(unit(mapping.source(x)), unit(mapping.target(z)), torch.Generator())
        best = found.confidence.argsort(descending=True)[: round(share * len(found.confidence))].sort().values
        new = [pair for pair in found.pairs[best].tolist() if pair[0] not in few[:, 0].tolist()]
        assert count == len(new)
        pairs = torch.tensor([*few.tolist(), *new])


@pytest.mark.parametrize("few", [0, 41])
def test_a_small_dictionary_is_made_larger_first(given, few):
    trace = Trace()
    fit(given, "rapo_semi", trace=trace, enlarge_below=str(few))
    first = next(record for record in trace.records if "induced" in record)
    assert (first["pairs"] > 40) == (few > 40)
    assert any("agreement" in record for record in trace.records) == (few > 40)


def test_a_dev_lexicon_too_small_to_decide_is_trained_on(given):
    trace = Trace()
    fit(given, trace=trace, min_dev_words="31")
    rounds = [record for record in trace.records if "induced" in record]
    assert rounds[0]["pairs"] == 40 + 30
    assert "dev_mrr" not in rounds[0]


def test_how_good_the_pairs_are_is_told(given):
    """On the words of dev, where that is known."""
    trace = Trace()
    x, z, train, dev = given
    fit(given, trace=trace, rounds="1", **{"induction.keep_probability": "1"})
    mapping = get_method("procrustes").fit(x, z, train[:40])
    induced = Induction()(unit(mapping.source(x)), unit(mapping.target(z)), torch.Generator()).pairs.tolist()
    gold = dev.tolist()
    judged = [pair for pair in induced if pair[0] in {source for source, _ in gold}]
    told = next(record for record in trace.records if "induced" in record)
    assert told["dev_induced"] == len(judged) > 0
    assert told["dev_right"] == pytest.approx(100 * sum(pair in gold for pair in judged) / len(judged))


class TestRoundsOfAnAlgorithm:
    """Where every round is as in the algorithm of a paper."""

    PAIRS = torch.tensor([[0, 0], [1, 1]])
    FOUND = (torch.tensor([[0, 5], [2, 2]]), torch.tensor([[1, 1], [3, 3]]), torch.tensor([[4, 4]]))

    def trained_on(self, monkeypatch, **settings):
        """The pairs of each fit of the base, and the words that it has chosen by."""
        fits, found = [], iter(self.FOUND)

        def fit(method, x, z, pairs, *, dev, **_):
            fits.append((pairs.tolist(), None if dev is None else dev.tolist()))
            return LinearMapping(source_matrix=torch.eye(3))

        def induce(self, x, z, generator):
            return InducedPairs(pairs := next(found), torch.zeros(len(pairs)), 1.0)

        monkeypatch.setattr(Ridge, "fit", fit)
        monkeypatch.setattr(Ridge, "uses_dev", True)
        monkeypatch.setattr(Induction, "__call__", induce)
        method = SelfLearning(base=Ridge(), rounds=3, min_dev_words=5, **settings)
        rows, dev = unit(torch.rand(6, 3, generator=torch.Generator().manual_seed(0))), torch.tensor([[5, 4]])
        generator = torch.Generator()
        return method.fit(rows, rows, self.PAIRS, dev=dev, generator=generator, trace=Trace()), fits

    @pytest.mark.parametrize(
        ("settings", "second", "third"),
        [
            ({}, [[2, 2]], [[3, 3]]),
            ({"extend": "new_pairs"}, [[0, 5], [2, 2]], [[3, 3]]),
            ({"extend": "all"}, [[0, 5], [2, 2]], [[1, 1], [3, 3]]),
            ({"accumulate": True}, [[2, 2]], [[2, 2], [3, 3]]),
            ({"accumulate": True, "extend": "new_pairs"}, [[0, 5], [2, 2]], [[0, 5], [2, 2], [3, 3]]),
        ],
        ids=str,
    )
    def test_the_pairs_of_each_round(self, monkeypatch, settings, second, third):
        _, fits = self.trained_on(monkeypatch, refit=False, **settings)
        first = self.PAIRS.tolist()
        assert [pairs for pairs, _ in fits] == [first, first + second, first + third]

    @pytest.mark.parametrize(("base_dev", "chooses"), [("first", [True, False, False]), ("every", [True, True, True])])
    def test_few_dev_words_are_not_trained_on_without_refit(self, monkeypatch, base_dev, chooses):
        _, fits = self.trained_on(monkeypatch, refit=False, base_dev=base_dev)
        assert [dev == [[5, 4]] for _, dev in fits] == chooses
        assert all([5, 4] not in pairs for pairs, _ in fits)

    def test_without_refit_nothing_is_ever_trained_on_dev(self):
        method = get_method("rapo_semi", {"base.refit": "true"})
        assert method.learns_dev
        assert method.without_refit().learns_dev is False
        assert method.without_refit().base.refit is False


class TestWhichRoundIsSelected:
    def selected(self, *rounds, **more):
        now = _Rounds(torch.empty(0, 2), torch.Generator())
        for scores in rounds:
            now.finish_round(None, torch.tensor(scores, dtype=torch.float64), now.pairs, **more)
        return now.selected_round

    def test_the_best(self):
        assert self.selected([0.1], [0.3], [0.2]) == 1
        assert self.selected([0.5] * 4, [0.7, 0.6, 0.6, 0.7], [0.2] * 4) == 1

    def test_a_later_one_that_is_not_clearly_worse(self):
        assert self.selected([0.5] * 4, [0.3, 0.6, 0.4, 0.6]) == 1

    def test_the_best_or_the_last_if_that_is_wanted(self):
        rounds = [0.5] * 4, [0.3, 0.6, 0.4, 0.6], [0.1] * 4
        assert [self.selected(*rounds, choice=choice) for choice in ("within_error", "best", "last")] == [1, 0, 2]

    def test_compared_with_the_best_and_not_with_the_last(self):
        worse_and_worse = [[0.9, 0.4, 0.8, 0.5], [0.8, 0.5, 0.6, 0.6], [0.7, 0.4, 0.5, 0.5]]
        assert self.selected(*worse_and_worse) == 1


def test_around_a_method_that_has_rounds_itself(given):
    trace = Trace()
    fit(given, base="procrustes_refinement", trace=trace)
    inner = [record["part.round"] for record in trace.records if record.get("round") == 1 and "part.round" in record]
    assert inner[:3] == [0, 1, 2]


def test_nothing_to_add_is_said(given):
    with pytest.raises(AlignmentError, match="round 0 of self_learning found no pair to add to the"):
        fit(given, **{"induction.threshold": "9"})


def test_nested_settings():
    method = get_method("self_learning", {"base": "rapo", "base.epochs": "3", "induction.k": "4"})
    assert (method.base.name, method.base.epochs, method.induction.k) == ("rapo", 3, 4)
    assert method.describe()["base"]["method"] == "rapo"
    assert method.describe()["induction"]["k"] == 4


BAD = [
    ({"base": "rapoo"}, "did you mean 'rapo'"),
    ({"base.epoch": "3"}, "method self_learning: base has no setting 'epoch'"),
    ({"precision.x": "3"}, "precision is None and has no settings of its own"),
    ({"rounds.x": "3"}, "rounds is 5 and has no settings of its own"),
    ({"induction": "all"}, "can only be given from Python"),
    ({"precision": "90"}, "precision=90.0; needed a number from 0 to 1"),
    ({"min_share": "-1"}, "min_share=-1.0; needed a number from 0 to 1"),
    ({"rounds": "0"}, "rounds=0; needed at least 1"),
    ({"patience": "0"}, "patience=0; needed at least 1"),
    ({"normalize": "center"}, "let normalize end in unit"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(settings) for settings, _ in BAD])
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        get_method("self_learning", settings)
