import itertools
import math
import sys

import optuna
import pytest

from bilex import all_methods, get_method
from bilex.errors import MissingExtraError, SettingsError
from bilex.settings.fields import Choice, Range, to_text
from bilex.tune.space import Space, import_optuna

SEARCHED = [name for name, method in all_methods().items() if method.search_space]


def test_there_are_some():
    assert {"rapo", "geomm", "ridge"} <= set(SEARCHED)


@pytest.mark.parametrize("name", SEARCHED)
def test_defaults_lie_inside_and_are_hit_exactly(name):
    space = Space.of(name, {})
    texts = space.texts(space.defaults())
    assert get_method(name, texts) == get_method(name)
    for setting, values in space.searched.items():
        assert getattr(get_method(name), setting) in values


@pytest.mark.parametrize("name", SEARCHED)
def test_every_corner_is_a_method(name):
    ends = {
        setting: values.values if isinstance(values, Choice) else (values.low, values.high)
        for setting, values in Space.of(name, {}).searched.items()
    }
    for corner in itertools.product(*ends.values()):
        texts = {setting: to_text(value) for setting, value in zip(ends, corner, strict=True)}
        made = get_method(name, texts)
        assert [getattr(made, setting) for setting in ends] == list(corner)


@pytest.mark.parametrize("name", SEARCHED)
def test_optuna_can_draw_from_it(name):
    space = Space.of(name, {})
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.enqueue_trial(space.defaults())
    assert study.ask(space.distributions()).params == space.defaults()
    for _ in range(20):
        made = get_method(name, space.texts(study.ask(space.distributions()).params))
        assert all(getattr(made, setting) in values for setting, values in space.searched.items() if setting != "k")


def test_what_is_given_is_not_searched():
    space = Space.of("rapo", {"hard": "32", "epochs": "3"})
    assert "hard" not in space.searched
    assert (space.method.hard, space.method.epochs) == (32, 3)
    assert "hard" not in space.defaults()


def test_what_is_given_by_its_old_name_is_not_searched(monkeypatch):
    monkeypatch.setattr(type(get_method("ridge")), "renamed", {"weight": "penalty"}, raising=False)
    with pytest.warns(FutureWarning), pytest.raises(SettingsError, match="all settings of ridge"):
        Space.of("ridge", {"weight": "30"})


def test_refusals():
    with pytest.raises(SettingsError, match=r"procrustes has no settings to search; these methods have: .*rapo"):
        Space.of("procrustes", {})
    with pytest.raises(SettingsError, match=r"all settings of ridge that could be searched \(penalty\) are fixed"):
        Space.of("ridge", {"penalty": "3"})
    with pytest.raises(SettingsError, match="has no setting 'penaltie'"):
        Space.of("ridge", {"penaltie": "3"})


def test_size():
    assert Space.of("vecmap", {}).size == 9
    assert Space.of("ridge", {}).size == math.inf
    assert Range(2, 8).size == 7
    assert Range(0.0, 1.0, step=0.25).size == 5


@pytest.mark.parametrize(
    ("values", "inside", "outside"),
    [
        (Range(64, 256, step=64), 128, 100),
        (Range(0.1, 0.7, step=0.2), 0.3, 0.4),
        (Range(1e-4, 3e-3, log=True), 1e-4, 1e-5),
        (Choice((("unit",), ())), (), ("center",)),
    ],
)
def test_what_is_inside(values, inside, outside):
    assert inside in values
    assert outside not in values


def test_optuna_says_nothing_of_each_trial():
    optuna.logging.set_verbosity(optuna.logging.INFO)  # as where nobody has changed it
    import_optuna().create_study()
    assert optuna.logging.get_verbosity() == optuna.logging.ERROR


def test_without_optuna(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"needs the package optuna: pip install 'bilex\[tune\]'"):
        import_optuna()


def test_the_space_of_the_paper_begins_with_its_preset():
    space = Space.of("rapo", {"epochs": "3"}, "paper")
    assert space.given == {"preset": "paper", "epochs": "3"}
    assert (space.method.start, space.method.epochs) == ("random", 3)
    assert space.searched == space.method.search_spaces["paper"]
    assert space.defaults()["learning_rate"] == 0.0015
    assert Space.of("rapo", {"hard": "64"}, "paper").searched.keys() == space.searched.keys() - {"hard"}
    assert Space.of("rapo", {"preset": "authors-en-tr"}, "authors").method.lambda_2 == pytest.approx(0.0128, abs=1e-4)


def test_a_space_that_is_not_there_or_without_the_defaults_is_refused():
    with pytest.raises(SettingsError, match=r"rapo has no search space 'papers' .*; it has: paper, authors"):
        Space.of("rapo", {}, "papers")
    with pytest.raises(SettingsError, match=r"ridge has no search space 'paper'; leave the name of the space out"):
        Space.of("ridge", {}, "paper")
    with pytest.raises(SettingsError, match=r"lambda_1=0.0 is not in the search space, which has 0.5 to 2.5; choose a"):
        Space.of("rapo", {"preset": "authors-en-zh"}, "authors")
