"""The search space: the settings that a method declares, without those that are fixed."""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilex.errors import MissingExtraError, SettingsError
from bilex.methods.base import Method, all_methods, get_method
from bilex.settings.fields import Choice, SearchSpace, current_name, to_text
from bilex.settings.presets import PRESET
from bilex.text.suggest import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.random import Generator

DIGITS = 4
"""Significant digits of the values that are tried."""


@dataclass(frozen=True)
class Space:
    """A method with its fixed settings, and the settings to search."""

    method: Method
    given: dict[str, str]
    searched: SearchSpace

    @classmethod
    def of(cls, name: str, given: Mapping[str, str], space: str | None = None) -> Space:
        """The space that a method declares; `given` settings, as texts, are fixed.

        space: one of its other spaces. A preset of that name, if there is one, has the settings that are not searched,
        and the values to compare with.
        """
        method = get_method(name)
        ranges = method.search_space if space is None else _named_space(method, space)
        given = {PRESET: space} | dict(given) if space in method.presets() else dict(given)
        method = get_method(method, given)
        if not ranges:
            searchable = ", ".join(name for name, known in all_methods().items() if known.search_space)
            raise SettingsError(f"method {method.name} has no settings to search; these methods have: {searchable}")
        fixed = {current_name(method, name) for name in given}
        searched = {name: values for name, values in ranges.items() if name not in fixed}
        if not searched:
            raise SettingsError(
                f"all settings of {method.name} that could be searched ({', '.join(ranges)}) are fixed; "
                "leave one out, or align with them"
            )
        found = cls(method, given, searched)
        found.check_defaults()
        return found

    @property
    def size(self) -> float:
        """The number of combinations."""
        return math.prod(values.size or math.inf for values in self.searched.values())

    def defaults(self) -> dict[str, Any]:
        """The default combination, in the values of `distributions`."""
        found = {name: functools.reduce(getattr, name.split("."), self.method) for name in self.searched}
        return {name: to_text(v) if isinstance(self.searched[name], Choice) else v for name, v in found.items()}

    def check_defaults(self) -> None:
        """Refuse a method whose values are not in the space: trial 0 has them."""
        for name, values in self.searched.items():
            value = functools.reduce(getattr, name.split("."), self.method)
            if value not in values:
                raise SettingsError(
                    f"{self.method.name}: {name}={to_text(value)} is not in the search space, which has {values}; "
                    f"choose a `preset` that is, or fix {name}"
                )

    def texts(self, combination: Mapping[str, Any]) -> dict[str, str]:
        """A combination as settings, in texts."""
        return {
            name: f"{value:.{DIGITS}g}" if isinstance(value, float) else to_text(value)
            for name, value in ((name, combination[name]) for name in self.searched)
        }

    def draw(self, generator: Generator) -> dict[str, str]:
        """A random combination as settings, in texts."""
        return self.texts({name: values.draw(generator) for name, values in self.searched.items()})

    def describe(self) -> dict[str, Any]:
        """The space in plain values."""
        return {name: dataclasses.asdict(values) for name, values in self.searched.items()}

    def distributions(self) -> dict[str, Any]:
        """The space in the types of Optuna. Choices are texts, because some of them are lists."""
        optuna = import_optuna().distributions
        made = {}
        for name, values in self.searched.items():
            if isinstance(values, Choice):
                made[name] = optuna.CategoricalDistribution([to_text(value) for value in values.values])
            elif values.whole:
                made[name] = optuna.IntDistribution(values.low, values.high, log=values.log, step=values.step or 1)
            else:
                made[name] = optuna.FloatDistribution(values.low, values.high, log=values.log, step=values.step)
        return made


def _named_space(method: Method, name: str) -> SearchSpace:
    known = method.search_spaces
    if name not in known:
        there = f"it has: {', '.join(known)}" if known else "leave the name of the space out"
        raise SettingsError(f"method {method.name} has no search space {name!r}{suggestion(name, known)}; {there}")
    return known[name]


def import_optuna() -> Any:
    """The module, with its log messages turned off."""
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("optuna", "tune", "a search over settings") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
