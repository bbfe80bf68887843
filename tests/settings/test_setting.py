from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import pytest

from bilex import Method, all_methods
from bilex.settings.fields import Choice, Range, to_text
from bilex.settings.setting import Setting, field_descriptions, list_settings


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a method."""

    width: int = 3
    """How wide
    it is."""


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A method, or nearly."""

    first: int = 1
    """The base's."""
    bare: float = 0.5
    part: Part = field(default_factory=Part)
    """What it is made of."""


@dataclass(frozen=True, kw_only=True)
class Heir(Whole):
    """The same with another default, and a description of its own."""

    first: int = 2
    part: Part = field(default_factory=lambda: Part(width=5))
    """Another."""


def test_descriptions_are_inherited_or_replaced():
    assert field_descriptions(Whole) == {"first": "The base's.", "part": "What it is made of."}
    assert field_descriptions(Heir) == {"first": "The base's.", "part": "Another."}
    assert field_descriptions(Part) == {"width": "How wide it is."}


def test_settings_of_parts_are_named_with_a_dot():
    space = {"part.width": Range(1, 9), "bare": Choice((0.5, None))}
    assert list(list_settings(Heir(), space)) == [
        Setting(name="first", type="int", default=2, description="The base's."),
        Setting(name="bare", type="float", default=0.5, description="", range=Choice((0.5, None))),
        Setting(name="part.width", type="int", default=5, description="How wide it is.", range=Range(1, 9)),
    ]


def test_without_source_there_are_no_descriptions():
    made = dataclasses.make_dataclass("Made", [("a", int, 1)])
    assert field_descriptions(made) == {}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (Choice(("linear", None, False)), "linear | none | false"),
        (Choice((("unit", "center"), (3e2, 1e3))), "unit,center | 300.0,1000.0"),
        (Range(1, 9), "1 to 9"),
        (Range(64, 256, step=64), "64 to 256, in steps of 64"),
        (Range(1e-4, 3e-3, log=True), "0.0001 to 0.003, on a log scale"),
    ],
)
def test_ranges_can_be_read(values, text):
    assert str(values) == text


@pytest.mark.parametrize("name", all_methods())
def test_every_setting_of_every_method_has_a_description(name):
    undescribed = [field for part in parts(all_methods()[name]()) for field in missing(part)]
    assert undescribed == []
    settings = all_methods()[name].settings()
    assert all(setting.description.endswith(".") for setting in settings)
    assert not [setting.name for setting in settings if "a" <= setting.description[0] <= "z"]


@pytest.mark.parametrize("name", all_methods())
def test_every_range_worth_searching_is_told(name):
    method = all_methods()[name]
    told = {setting.name: setting.range for setting in method.settings() if setting.range is not None}
    assert told == method.search_space


def test_an_inner_method_is_told_by_its_name_and_what_differs():
    told = {setting.name: to_text(setting.default) for setting in all_methods()["rapo_semi"].settings()}
    assert (told["base"], told["base.refit"], told["initial"]) == ("rapo", "false", "vecmap_unsupervised")
    assert "base.epochs" not in told
    kinds = {setting.name: setting.type for setting in all_methods()["rapo_semi"].settings()}
    assert (kinds["base"], kinds["initial"]) == ("method", "vecmap_unsupervised")


def parts(value):
    """The method, and what it is made of."""
    yield value
    for one in dataclasses.fields(value):
        inner = getattr(value, one.name)
        if dataclasses.is_dataclass(inner) and not isinstance(inner, Method):
            yield from parts(inner)


def missing(part):
    descriptions = field_descriptions(type(part))
    return [f"{type(part).__name__}.{one.name}" for one in dataclasses.fields(part) if one.name not in descriptions]
