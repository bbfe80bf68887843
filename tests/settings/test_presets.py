"""Presets, against what the documents say of the paper and of its program."""

import re
from dataclasses import replace

import pytest

from bilex import SettingsError, all_methods, get_method
from bilex.methods.adversarial import Adversary
from bilex.settings.fields import to_text, update_settings
from bilex.settings.presets import presets_of

ALL = [(name, preset) for name, method in all_methods().items() for preset in method.presets()]
EVERY = {
    "start": "random",
    "adapters": "uniform",
    "activation": "tanh",
    "projection": "householder",
    "reflections": None,
    "random": 128,
    "negatives": "fresh",
    "ranking": 1.0,
    "count": "pairs",
    "origin": "zero",
    "two_way": False,
    "decay": False,
    "patience": 20,
    "choose_by": "p_at_1",
    "smooth": 1,
    "refit": False,
    "k": 10,
}
PAPER = {
    "tau_source": 0.85,
    "tau_target": 0.85,
    "tau_included": False,
    "context_cap": None,
    "hard": 128,
    "warm_up": 0,
    "lambda_1": 0.5,
    "distance": "euclidean",
    "lambda_2": 0.015,
    "regularize": "joint",
    "epochs": 150,
    "batch": 128,
    "shuffle": "pairs",
    "learning_rate": 0.0015,
}
AUTHORS = PAPER | {
    "tau_included": True,
    "context_cap": 10,
    "warm_up": 16,
    "distance": "squared",
    "regularize": "adapters",
    "epochs": 200,
    "shuffle": "none",
}
EN_TR = AUTHORS | {
    "tau_source": 0.9446312670737242,
    "tau_target": 0.9850036452261268,
    "lambda_2": 0.012812358079718686,
    "epochs": 150,
}
EN_ZH = EN_TR | {"hard": 64, "warm_up": 12, "lambda_1": 0.0, "batch": 64, "learning_rate": 0.002}
RAPO = {"paper": PAPER, "authors": AUTHORS, "authors-en-tr": EN_TR, "authors-en-zh": EN_ZH}
OTHERS = ("pss", "samples"), ("adversarial_autoencoder", "beta")
"""Settings that are inherited from the method of another paper."""
ROUNDS = {
    "rounds": 5,
    "enlarge_below": 0,
    "precision": None,
    "base_dev": "every",
    "choice": "last",
    "refit": False,
}


@pytest.mark.parametrize(("name", "preset"), ALL)
def test_every_preset_is_one_of_settings_that_exist(name, preset):
    method = get_method(name, {"preset": preset})
    assert method != get_method(name)
    assert presets_of(name)[preset].about.strip()


@pytest.mark.parametrize("preset", RAPO)
def test_rapo(preset):
    described = get_method("rapo", {"preset": preset}).describe()
    assert {key: described[key] for key in EVERY | PAPER} == EVERY | RAPO[preset]


@pytest.mark.parametrize("preset", RAPO)
def test_rapo_semi(preset):
    method = get_method("rapo_semi", {"preset": preset})
    described, induction = method.describe(), method.induction
    assert {key: described[key] for key in ROUNDS} == ROUNDS
    assert method.base == replace(get_method("rapo", {"preset": preset}), warm_start=False)
    assert (induction.direction, induction.confidence, induction.rank_penalty) == ("mutual", "score", 0)
    assert induction.candidates is None
    algorithm = (induction.max_rank, method.extend, method.accumulate)
    assert algorithm == ((15_000, "new_pairs", True) if preset == "paper" else (20_000, "all", False))
    assert not method.learns_dev


@pytest.mark.parametrize("name", [name for name, preset in ALL if preset == "published"])
def test_published_numbers_are_those_of_the_docstrings(name):
    """What is said to be `In the paper N` is N."""
    method = get_method(name, {"preset": "published"})
    for setting in type(method).settings():
        found = re.search(r"In the paper ([\d,.e-]+\d)", setting.description)
        if found and (name, setting.name) not in OTHERS:
            value = method
            for part in setting.name.split("."):
                value = getattr(value, part)
            assert value == float(found[1].replace(",", "")), setting.name


def test_given_settings_come_after_those_of_the_preset():
    method = get_method("rapo", {"hard": "7", "preset": "authors-en-zh"})
    assert (method.hard, method.batch, method.warm_up) == (7, 64, 12)
    method = get_method("rapo_semi", {"base.epochs": "3", "preset": "authors"})
    assert (method.base.epochs, method.base.warm_up, method.rounds) == (3, 16, 5)
    method = get_method("rapo_semi", {"base.preset": "authors-en-zh"})
    assert (method.base.hard, method.rounds) == (64, 1)


def test_unknown_presets_are_refused():
    with pytest.raises(SettingsError, match=r"rapo has no preset 'papr' \(did you mean 'paper'\?\); it has: paper, "):
        get_method("rapo", {"preset": "papr"})
    with pytest.raises(SettingsError, match="method ridge has no presets; leave out `preset`"):
        get_method("ridge", {"preset": "paper"})
    with pytest.raises(SettingsError, match="no preset 3"):
        get_method("rapo", {"preset": 3})
    with pytest.raises(SettingsError, match="adversary has no setting 'preset'"):
        update_settings(Adversary(), {"preset": "x"}, what="adversary")


@pytest.mark.parametrize("space", ["paper", "authors"])
def test_the_preset_is_inside_the_space_of_its_name(space):
    method = get_method("rapo", {"preset": space})
    for name, values in method.search_spaces[space].items():
        assert getattr(method, name) in values, f"{name}={to_text(getattr(method, name))}"
