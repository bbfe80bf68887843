from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pytest

from bilex.errors import SettingsError
from bilex.methods.base import get_method
from bilex.settings.fields import (
    Choice,
    Range,
    current_name,
    describe,
    field_types,
    original_names,
    parse,
    to_text,
    update_settings,
)


@dataclass(frozen=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True)
class Example:
    epochs: int = 10
    rate: float = 1e-3
    shape: Literal["linear", "tanh"] = "linear"
    cut: int | None = None
    steps: tuple[str, ...] = ("unit", "center")
    sizes: tuple[int, ...] = ()
    both: bool = True
    mark: str = ""
    level: Literal[1, 2] = 1
    inner: Inner = field(default_factory=Inner)


GOOD = [
    ("epochs", "3", 3),
    ("epochs", "-3", -3),
    ("rate", "1e-4", 1e-4),
    ("rate", "2", 2.0),
    ("shape", "tanh", "tanh"),
    ("cut", "none", None),
    ("cut", "None", None),
    ("cut", "5", 5),
    ("steps", "unit,center,unit", ("unit", "center", "unit")),
    ("steps", "unit+center", ("unit", "center")),
    ("steps", "", ()),
    ("sizes", "1,2", (1, 2)),
    ("both", "false", False),
    ("both", "True", True),
    ("mark", "a=b", "a=b"),
    ("level", "2", 2),
]
BAD = [
    ("epochs", "3.5", "needed a whole number"),
    ("epochs", "", "needed a whole number"),
    ("rate", "fast", "needed a number"),
    ("shape", "cubic", "needed one of linear, tanh"),
    ("cut", "all", "needed a whole number"),
    ("sizes", "1,x", "needed a whole number"),
    ("both", "yes", "needed one of true, false"),
    ("level", "3", "needed one of 1, 2"),
    ("inner", "Inner()", "can only be given from Python"),
]


@pytest.mark.parametrize(("name", "text", "value"), GOOD)
def test_text_becomes_a_value(name, text, value):
    made = update_settings(Example(), {name: text}, what="example")
    assert getattr(made, name) == value
    assert type(getattr(made, name)) is type(value)
    assert made == Example(**{name: value})


VALUES = [
    ("epochs", 3),
    ("epochs", np.int64(3)),
    ("rate", 1e-4),
    ("rate", 2),
    ("rate", np.float64(0.1)),
    ("cut", None),
    ("cut", 5),
    ("steps", ("unit",)),
    ("steps", ["unit", "center"]),
    ("sizes", [1, 2]),
    ("both", False),
    ("both", np.False_),
    ("level", 2),
    ("inner", Inner(depth=3)),
    ("mark", "a=b"),
]


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_values_of_python(name, value):
    made = getattr(update_settings(Example(), {name: value}, what="example"), name)
    assert made == (tuple(value) if isinstance(value, list) else value)
    assert type(made) in (int, float, bool, str, tuple, Inner, type(None))


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("epochs", 3.5, "needed a whole number"),
        ("epochs", True, "needed a whole number"),
        ("epochs", None, "needed a whole number"),
        ("rate", [1.0, 2.0], "needed a number"),
        ("both", 1, "needed one of true, false"),
        ("level", 3, "needed one of 1, 2"),
        ("inner", 5, "can only be given from Python"),
        ("inner", Inner, "needed Inner"),
        ("inner", Example(), "needed Inner"),
    ],
)
def test_wrong_values_of_python(name, value, needed):
    with pytest.raises(SettingsError, match=needed):
        update_settings(Example(), {name: value}, what="example")


def test_settings_of_a_setting():
    for given in ({"inner.depth": "4"}, {"inner.depth": 4}, {"inner": {"depth": 4}}):
        assert update_settings(Example(), given, what="example") == Example(inner=Inner(depth=4))
    with pytest.raises(SettingsError, match=r"example: inner has no setting 'dept' \(did you mean 'depth'"):
        update_settings(Example(), {"inner": {"dept": 4}}, what="example")
    with pytest.raises(SettingsError, match="epochs is 10 and has no settings of its own"):
        update_settings(Example(), {"epochs": {"depth": 4}}, what="example")


def test_other_names_may_have_been_meant():
    with pytest.raises(SettingsError, match=r"no setting 'rng_sed' \(did you mean 'rng_seed'"):
        update_settings(Example(), {"rng_sed": 1}, what="example", others=["rng_seed"])


@pytest.mark.parametrize("value", [3, 0.1, 3e-05, True, None, "linear", ("unit", "center"), (3000.0, 0.5), ()])
def test_a_value_becomes_text_and_a_value_again(value):
    kind = tuple[type(value[0]) if value else str, ...] if isinstance(value, tuple) else type(value)
    assert parse(to_text(value), int | None if value is None else kind) == value


@pytest.mark.parametrize(("name", "text", "needed"), BAD)
def test_wrong_text_says_what_was_needed(name, text, needed):
    with pytest.raises(SettingsError) as caught:
        update_settings(Example(), {name: text}, what="example")
    assert str(caught.value).startswith(f"example: {name}={text!r}: ")
    assert needed in str(caught.value)


def test_an_unknown_setting_names_the_nearest_and_all():
    with pytest.raises(SettingsError, match=r"no setting 'epoch' \(did you mean 'epochs'\?\); it has: epochs, rate"):
        update_settings(Example(), {"epoch": "1"}, what="example")
    with pytest.raises(SettingsError, match="no setting 'zzz'; it has"):
        update_settings(Example(), {"zzz": "1"}, what="example")


def test_nothing_given_keeps_the_defaults():
    assert update_settings(Example(), {}, what="example") == Example()


def test_descriptions_for_people():
    described = {name: describe(kind) for name, kind in field_types(Example).items()}
    assert described["epochs"] == "int"
    assert described["shape"] == "linear|tanh"
    assert described["cut"] == "int or none"
    assert described["steps"] == "str,..."


def test_a_union_says_all_that_would_do():
    with pytest.raises(ValueError, match="needed a whole number or needed one of a"):
        parse("x", int | Literal["a"])


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e999", float("nan"), float("inf")])
def test_numbers_are_finite(text):
    with pytest.raises(SettingsError, match=r"keep_probability=.*: needed a finite number"):
        get_method("vecmap_unsupervised", {"keep_probability": text})


@dataclass(frozen=True)
class Renamed:
    confidence: float = 0.5
    depth: int = 1
    example: Example = field(default_factory=Example)
    renamed: ClassVar = {"sure": "confidence", "certain": "confidence", "levels": "depth"}


@dataclass(frozen=True)
class Outer:
    inner: Renamed = field(default_factory=Renamed)


@pytest.mark.parametrize("old", ["sure", "certain"])
def test_an_old_name_is_accepted_with_a_warning_that_says_the_new_one(old):
    with pytest.warns(FutureWarning, match=rf"^example: the setting {old} is now called confidence; write confidence="):
        assert update_settings(Renamed(), {old: "0.9", "depth": 2}, what="example") == Renamed(confidence=0.9, depth=2)


@pytest.mark.parametrize("given", [{"inner.levels": "3"}, {"inner": {"levels": 3}}])
def test_an_old_name_of_a_setting_of_a_setting(given):
    with pytest.warns(FutureWarning, match="^example: inner: the setting levels is now called depth"):
        assert update_settings(Outer(), given, what="example") == Outer(Renamed(depth=3))


def test_the_new_name_gives_no_warning():
    assert update_settings(Outer(), {"inner.confidence": "0.9"}, what="example") == Outer(Renamed(confidence=0.9))


@pytest.mark.parametrize("given", [{"sure": 1, "confidence": 1}, {"confidence": 1, "sure": 1}])
def test_a_setting_is_not_given_by_both_names(given):
    with pytest.raises(SettingsError, match="sure and confidence are the same setting; leave out sure, its old name"):
        update_settings(Renamed(), given, what="example")


def test_an_old_name_with_a_bad_value_is_refused_by_the_new_name():
    with pytest.warns(FutureWarning), pytest.raises(SettingsError, match="example: confidence='high': needed a number"):
        update_settings(Renamed(), {"sure": "high"}, what="example")


def test_current_and_original_names():
    assert current_name(Outer(), "inner.sure") == current_name(Outer(), "inner.confidence") == "inner.confidence"
    assert current_name(Outer(), "inner") == "inner"
    assert current_name(Renamed(), "example.inner.depth") == "example.inner.depth"
    assert current_name(Renamed(), "levels") == "depth"
    assert original_names(Renamed) == {"confidence": "sure", "depth": "levels"}
    assert original_names(Example) == {}


@pytest.mark.parametrize(
    "values",
    [
        Choice(("a", "b", (1, 2))),
        Range(0.5, 2.5),
        Range(64, 256, step=64),
        Range(0, 3),
        Range(1e-4, 1e-2, log=True),
        Range(0.001, 0.003, step=0.0005),
    ],
    ids=str,
)
def test_values_drawn_at_random_are_in_the_range(values):
    generator = np.random.default_rng(0)
    drawn = [values.draw(generator) for _ in range(200)]
    assert all(value in values for value in drawn)
    assert len(set(drawn)) == (values.size or 200)
    if isinstance(values, Range) and values.whole:
        assert {type(value) for value in drawn} == {int}
    if isinstance(values, Range) and values.log:
        assert 60 < sum(value < 1e-3 for value in drawn) < 140
