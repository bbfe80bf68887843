"""What RAPO's training computes, against plain loops over the words."""

from dataclasses import replace

import pytest
import torch

from bilex import SettingsError, get_method
from bilex.mapping import LinearMapping
from bilex.methods.rapo import ranking
from bilex.methods.rapo.towers import Tower
from bilex.normalize import unit
from bilex.training.trace import Trace

SETTINGS = {
    "default": {},
    "each pair counts alike": {"count": "pairs"},
    "two ways": {"two_way": "true"},
    "two ways, each pair alike": {"two_way": "true", "count": "pairs"},
    "fresh negatives": {"negatives": "fresh"},
    "fresh negatives two ways": {"negatives": "fresh", "two_way": "true"},
    "warm-up": {"warm_up": "1", "two_way": "true"},
    "no hard negatives": {"hard": "0"},
    "no random negatives": {"random": "0"},
    "more negatives than words": {"hard": "50", "random": "30"},
    "weights": {"ranking": "0.7", "lambda_1": "0.3", "lambda_2": "0.2"},
    "no ranking": {"ranking": "0", "lambda_1": "1"},
    "squared distance": {"lambda_1": "2", "distance": "squared", "two_way": "true"},
    "all is regularized": {"lambda_2": "0.2", "regularize": "all"},
    "linear projections": {"projection": "linear", "lambda_1": "0.5"},
    "soft orthogonality": {"projection": "linear", "orthogonality": "0.4"},
    "random start": {"start": "random", "reflections": "3", "lambda_2": "0.2", "regularize": "all"},
    "random linear start": {"start": "random", "projection": "linear"},
    "one norm of all": {"lambda_2": "0.2", "regularize": "joint"},
    "norms, not distances": {"start": "random", "adapters": "uniform", "lambda_2": "0.2", "origin": "zero"},
    "one norm, no distance": {"start": "random", "lambda_2": "0.2", "regularize": "joint", "origin": "zero"},
    "tanh": {"activation": "tanh"},
    "a sigmoid that is not odd": {"activation": "plain_sigmoid"},
    "pairs in the order of the tables": {"shuffle": "none", "batch": "4"},
    "pairs in random order": {"shuffle": "pairs", "batch": "4"},
    "sigmoid": {"activation": "sigmoid"},
    "no adapter": {"activation": "none", "lambda_2": "0.2", "regularize": "all"},
    "context": {"tau_source": "0.0", "tau_target": "0.7"},
    "a small context": {"context_cap": "2"},
    "all neighbours": {"k": "100"},
    "batches": {"batch": "4", "learning_rate": "0.02"},
    "batches of fresh negatives": {"batch": "4", "negatives": "fresh", "warm_up": "1"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_losses_and_gradients(watch, plain, settings):
    """At the start, and at every step after it."""
    watched, naive = watch(**settings), plain(**settings)
    expected = list(naive.training(watched))
    for (_, gradients), (_, slow, _) in zip(watched.steps, expected, strict=True):
        torch.testing.assert_close(gradients, slow, rtol=1e-6, atol=1e-8)
    batches = len(expected) // naive.settings.epochs
    for epoch, record in enumerate(watched.records[1:]):
        told = {name: record[name] for name in ("ranking", "pairs", "l2", "orthogonality") if name in record}
        parts = expected[epoch * batches : (epoch + 1) * batches]
        mean = {name: sum(losses[name] * size for losses, _, size in parts) / 9 for name in parts[0][0]}
        assert told == pytest.approx(mean, abs=2e-6)  # a distance of 0 is told as 1e-6


def test_padded_keys_have_no_share(watch, monkeypatch):
    """In low precision the keys of a batch are padded; losses and gradients are those of the others."""
    sizes, products = set(), Tower.cosines

    def cosines(tower, y, keys, context):
        sizes.add(len(keys))
        return products(tower, y, keys, context)

    found = []
    for multiple in (1, 16, 1024):
        monkeypatch.setattr(ranking, "KEY_MULTIPLE", multiple)
        monkeypatch.setattr(Tower, "cosines", cosines)
        found.append(watch(dtype="bfloat16", batch="4").steps[0])
        assert all(size % multiple == 0 for size in sizes)
        sizes.clear()
        monkeypatch.undo()
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-2, atol=1e-3)
    assert any(gradient.any() for gradient in found[0][1].values())


def test_chance_is_drawn_anew(watch):
    """Random negatives for each batch, those of the warm-up for each epoch."""
    watched = watch(batch="4", warm_up="2")
    assert {len(calls) for calls in watched.drawn.values()} == {2, 6}
    for calls in watched.drawn.values():
        assert len({tuple(drawn.flatten().tolist()) for drawn in calls}) == len(calls)


def test_batches_are_made_by_chance(problem):
    made = [cosines(problem, problem.fit(random="0", batch="4", rng_seed=rng_seed)) for rng_seed in (0, 1)]
    assert not torch.allclose(*made)


def cosines(given, mapping):
    """Of all source words with all target words."""
    return unit(mapping.source(given.x)) @ unit(mapping.target(given.z)).T


ENDS = [{}, {"projection": "linear"}, {"activation": "sigmoid"}, {"activation": "none"}, {"context_cap": "2"}]


@pytest.mark.parametrize("settings", ENDS, ids=str)
def test_the_mapping_is_that_of_the_last_parameters(problem, watch, plain, settings):
    """Also of words that are not those of the table, as new words are."""
    settings = {**settings, "decay": "false", "random": "0"}
    mapping, naive = problem.fit(**settings, epochs="1"), plain(**settings)
    last = watch(**settings).steps[1][0]  # those with which the second epoch begins
    for side, rows in (("source", problem.x), ("target", problem.z)):
        mapped, expected = getattr(mapping, side), torch.stack(naive.mapped(last, side))
        torch.testing.assert_close(unit(mapped(rows)), expected)
        torch.testing.assert_close(unit(mapped(rows[3:5], among=rows)), expected[3:5])


@pytest.mark.parametrize("settings", [{}, {"two_way": "true"}, {"projection": "linear", "k": "5"}], ids=str)
def test_figures_of_an_epoch(watch, plain, settings):
    """Of a dev word that has two translations the better one counts."""
    gold = {1: (4,), 4: (8,), 8: (0,), 10: (3, 11)}
    dev = torch.tensor([(i, j) for i, right in gold.items() for j in right])
    watched, naive = watch(dev=dev, refit="false", patience="9", **settings), plain(**settings)
    for (parameters, _), record in zip(watched.steps, watched.records, strict=False):
        x, z = (torch.stack(naive.mapped(parameters, side)) for side in ("source", "target"))
        scores = 2 * x @ z.T - torch.tensor(naive.constants(x, z).penalty)
        ranks = [min(1 + int((scores[i] > scores[i, j]).sum()) for j in right) for i, right in gold.items()]
        assert record["dev"] == pytest.approx(sum(1 / rank for rank in ranks) / 4)
        assert record["dev_p_at_1"] == 25 * ranks.count(1)
        grams = [a @ a.T for a in (naive.matrix(parameters, side) for side in ("source", "target"))]
        errors = [float((gram - torch.eye(4)).abs().max()) for gram in grams]
        assert record["orthogonality_error"] == pytest.approx(max(errors), abs=1e-12)
        assert record["penalty_error"] == pytest.approx(0, abs=1e-12)  # lists are longer than these tables


class TestStart:
    @pytest.mark.parametrize("start", ["procrustes", "vecmap", "geomm"])
    @pytest.mark.parametrize("projection", ["householder", "linear"])
    def test_without_epochs_it_is_the_linear_method(self, problem, start, projection):
        """Where each word is its own context."""
        settings = {"tau_source": "1", "tau_target": "1", "start": start, "projection": projection}
        expected = get_method(start).fit(problem.x, problem.z, problem.pairs, dev=None, trace=Trace())
        found = problem.fit(epochs="0", **settings)
        torch.testing.assert_close(cosines(problem, found), cosines(problem, expected))

    def test_a_method_that_is_not_linear_is_refused(self, problem):
        with pytest.raises(
            SettingsError, match="rapo: start=instamap is not a linear method; choose a linear one, or random"
        ):
            problem.fit(start="instamap")

    @pytest.mark.parametrize("reflections", [None, "1", "3"])
    def test_random_rotations_and_no_adapters(self, watch, reflections):
        more = {} if reflections is None else {"reflections": reflections}
        start = watch(start="random", **more).steps[0][0]
        assert not start["source_adapter"].any()
        assert not start["target_adapter"].any()
        for side in ("source", "target"):
            assert start[f"{side}_projection"].shape == (int(reflections or 4), 4)
        assert not torch.equal(start["source_projection"], start["target_projection"])

    def test_random_adapters(self, watch):
        start = watch(start="random", adapters="uniform").steps[0][0]
        both = torch.stack([start["source_adapter"], start["target_adapter"]])
        assert len(both.unique()) == both.numel()
        assert 0.35 < both.abs().max() <= 0.5
        assert both.min() < 0 < both.max()

    def test_random_adapters_of_a_linear_start_are_refused(self, problem):
        with pytest.raises(SettingsError, match="rapo: start=procrustes has adapters of its own; leave adapters out"):
            problem.fit(adapters="uniform")


@pytest.fixture(scope="module")
def trained(problem):
    """Towers that have learnt something, from another start and with other pairs."""
    return replace(problem, pairs=torch.tensor([[1, 6], [4, 8], [6, 10]])).fit(start="random", rng_seed=3)


class TestWarm:
    @pytest.mark.parametrize("projection", ["householder", "linear"])
    def test_it_goes_on_from_what_was_trained(self, problem, trained, projection):
        found = problem.fit(epochs="0", warm=trained, projection=projection)
        torch.testing.assert_close(cosines(problem, found), cosines(problem, trained))

    def test_its_parameters_are_what_is_regularized_from(self, watch, plain, trained):
        settings = {"lambda_2": "0.5", "regularize": "all"}
        watched = watch(warm=trained, **settings)
        expected = list(plain(**settings).training(watched))
        torch.testing.assert_close(watched.steps[1][1], expected[1][1], rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("epochs", ["0", "2"])
    def test_it_begins_anew_where_that_is_wanted(self, problem, trained, epochs):
        found = problem.fit(epochs=epochs, warm=trained, warm_start="false")
        torch.testing.assert_close(cosines(problem, found), cosines(problem, problem.fit(epochs=epochs)))
        assert not torch.allclose(cosines(problem, found), cosines(problem, trained))

    def test_it_also_goes_on_on_train_and_dev(self, problem, trained):
        """With dev it is fitted twice, both times from there."""
        dev = torch.tensor([[1, 4], [10, 3]])
        found = problem.fit(warm=trained, dev=dev, epochs="0")
        torch.testing.assert_close(cosines(problem, found), cosines(problem, trained))

    def test_a_mapping_of_another_kind_is_of_no_use(self, problem):
        other = LinearMapping(source_matrix=torch.eye(4).double())
        found = problem.fit(warm=other, epochs="0")
        torch.testing.assert_close(cosines(problem, found), cosines(problem, problem.fit(epochs="0")))


class TestNeighbourhoods:
    """What is known of them is not searched again, if it is of the same tables and of the same settings."""

    @staticmethod
    def searched(given, **settings):
        labels = []
        mapping = given.fit(trace=Trace(watcher=lambda label, *_: labels.append(label)), warm_start="false", **settings)
        return [side for side in ("source", "target") if f"neighbours of {side} words" in labels], mapping

    def test_those_of_the_same_tables(self, problem, trained):
        assert self.searched(problem)[0] == ["source", "target"]
        sides, found = self.searched(problem, warm=trained)
        assert sides == []
        torch.testing.assert_close(cosines(problem, found), cosines(problem, problem.fit()))

    @pytest.mark.parametrize("side", ["source", "target"])
    def test_not_those_of_another_table(self, problem, trained, side):
        """As large as this one."""
        name = {"source": "x", "target": "z"}[side]
        other = replace(problem, **{name: getattr(problem, name).flip(0)})
        sides, found = self.searched(other, warm=trained)
        assert sides == [side]
        torch.testing.assert_close(cosines(other, found), cosines(other, other.fit()))

    @pytest.mark.parametrize("settings", [{"tau_source": "0.2"}, {"tau_target": "0.2"}, {"context_cap": "2"}], ids=str)
    def test_not_those_of_other_settings(self, problem, trained, settings):
        sides, found = self.searched(problem, warm=trained, **settings)
        assert sides == ["source", "target"]
        torch.testing.assert_close(cosines(problem, found), cosines(problem, problem.fit(**settings)))

    def test_none_where_no_word_is_adapted(self, problem):
        assert self.searched(problem, activation="none")[0] == []
