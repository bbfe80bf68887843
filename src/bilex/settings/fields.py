"""Settings are fields of frozen dataclasses. Here text from the command line becomes field values, or a clear error."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
import warnings
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin

from bilex.errors import SettingsError
from bilex.settings.presets import with_preset
from bilex.text.suggest import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.random import Generator

Settings = TypeVar("Settings")


@dataclasses.dataclass(frozen=True)
class Choice:
    """A finite set of values to search."""

    values: tuple[Any, ...]

    def __contains__(self, value: Any) -> bool:
        return value in self.values

    @property
    def size(self) -> int | None:
        """Number of values."""
        return len(self.values)

    def draw(self, generator: Generator) -> Any:
        """One of the values, at random."""
        return self.values[int(generator.integers(len(self.values)))]

    def __str__(self) -> str:
        return " | ".join(map(to_text, self.values))


@dataclasses.dataclass(frozen=True)
class Range:
    """A range of numbers to search, both ends included. Only integers if both ends are integers.

    log: sample on a log scale. step: only low, low + step, low + 2 step and so on.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __contains__(self, value: Any) -> bool:
        steps = 0.0 if self.step is None else (value - self.low) / self.step
        return bool(self.low <= value <= self.high and abs(steps - round(steps)) < 1e-9)

    @property
    def whole(self) -> bool:
        """Whether the values are integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def size(self) -> int | None:
        """Number of values, or None for a continuous range."""
        step = self.step or (1 if self.whole else None)
        return None if step is None else round((self.high - self.low) / step) + 1

    def draw(self, generator: Generator) -> float:
        """One of the values, at random."""
        if self.size is not None:
            return self.low + int(generator.integers(self.size)) * (self.step or 1)
        ends = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        value = float(generator.uniform(*ends))
        return math.exp(value) if self.log else value

    def __str__(self) -> str:
        by = "on a log scale" if self.log else None if self.step is None else f"in steps of {self.step:g}"
        return ", ".join(filter(None, (f"{self.low:g} to {self.high:g}", by)))


SearchSpace = dict[str, Choice | Range]
"""The settings of a method that are worth searching, by name."""


def update_settings(settings: Settings, given: Mapping[str, Any], *, what: str, others: Iterable[str] = ()) -> Settings:
    """A copy of the settings with new values for the given fields. Values are texts or Python values.

    A field of a nested dataclass is named with a dot, `induction.max_rank`, or given in a dict of its own. `others` are
    further names to suggest for an unknown one. `preset` names settings that come first (see bilex.settings.presets). A
    renamed field can still be given by its old name, with a `FutureWarning`: the class attribute `renamed` is a dict
    from old to new names.
    """
    kinds, given = field_types(type(settings)), _with_current_names(type(settings), given, what)
    given = with_preset(getattr(settings, "name", None), given, what)
    values: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for key, value in given.items():
        name, dot, rest = key.partition(".")
        if name not in kinds:
            near = suggestion(key, [*kinds, *others])
            raise SettingsError(f"{what} has no setting {key!r}{near}; it has: {', '.join(kinds)}")
        if dot or isinstance(value, dict):
            inner.setdefault(name, {}).update({rest: value} if dot else value)
            continue
        try:
            values[key] = convert(value, kinds[key])
        except ValueError as error:
            raise SettingsError(f"{what}: {key}={value!r}: {error}") from None
    for name, own in inner.items():
        value = values.get(name, getattr(settings, name))
        if not dataclasses.is_dataclass(value):
            raise SettingsError(f"{what}: {name} is {value!r} and has no settings of its own ({', '.join(own)})")
        values[name] = update_settings(value, own, what=f"{what}: {name}")
    return dataclasses.replace(settings, **values)  # type: ignore[type-var]


def field_types(cls: type) -> dict[str, Any]:
    """The field types of a dataclass by name."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def current_name(settings: Any, name: str) -> str:
    """The current name of a setting from its current or an old name: `induction.confidence` for `induction.sure`."""
    own, dot, rest = name.partition(".")
    own = _renamed_fields(type(settings)).get(own, own)
    return own + dot + (current_name(getattr(settings, own, None), rest) if dot else "")


def original_names(cls: type) -> dict[str, str]:
    """The original name of every renamed field of a dataclass, by its current name.

    Hashes and files that were made with the original names stay valid.
    """
    return {new: old for old, new in reversed(_renamed_fields(cls).items())}


def convert(value: Any, kind: Any) -> Any:
    """A value of the type, from a text or a Python value. ValueError says what was needed."""
    if isinstance(value, str) or not dataclasses.is_dataclass(value):
        return parse(to_text(value), kind)
    kinds = tuple(part for part in (kind, *get_args(kind)) if isinstance(part, type))
    if not isinstance(value, kinds):
        raise ValueError(f"needed {describe(kind)}")
    return value


def parse(text: str, kind: Any) -> Any:
    """A value of the type, from its text. ValueError says what was needed."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _parse_union(text, args)
    if origin is Literal:
        return _parse_choice(text, args)
    if origin is tuple:
        return tuple(parse(part, args[0]) for part in text.replace("+", ",").split(",") if part)
    if kind is bool:
        return _parse_choice(text.lower(), ("true", "false")) == "true"
    if kind in (int, float):
        return _parse_number(text, kind)
    if kind is str:
        return text
    if hasattr(kind, "from_name"):
        return kind.from_name(text)
    raise ValueError("this setting can only be given from Python")


def to_text(value: Any) -> str:
    """The inverse of `parse`."""
    if isinstance(value, tuple | list):
        return ",".join(map(to_text, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def describe(kind: Any) -> str:
    """A type as help texts show it: `int`, `float or none`, `linear|tanh`."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join("none" if part is types.NoneType else describe(part) for part in args)
    if origin is Literal:
        return "|".join(map(str, args))
    if origin is tuple:
        return f"{describe(args[0])},..."
    if hasattr(kind, "from_name"):
        return str(getattr(kind, "name", kind.__name__.lower()))
    return getattr(kind, "__name__", str(kind))


def check_positive(**numbers: int | None) -> None:
    """Refuse numbers below 1. None is accepted."""
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise SettingsError(f"{name}={number}: needed a whole number of at least 1")


def _renamed_fields(cls: type) -> dict[str, str]:
    """Current names of renamed fields by old name, oldest first."""
    return getattr(cls, "renamed", {})


def _with_current_names(cls: type, given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The given settings by current name, with a warning for each old name."""
    result: dict[str, Any] = {}
    for key, value in given.items():
        old, dot, rest = key.partition(".")
        new = _renamed_fields(cls).get(old, old)
        if new != old:
            if any(other.partition(".")[0] == new for other in given):
                raise SettingsError(f"{what}: {old} and {new} are the same setting; leave out {old}, its old name")
            warnings.warn(
                f"{what}: the setting {old} is now called {new}; write {new}=...", FutureWarning, stacklevel=3
            )
        result[new + dot + rest] = value
    return result


def _parse_number(text: str, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(text)
    except ValueError:
        raise ValueError("needed a whole number" if kind is int else "needed a number") from None
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError("needed a finite number")
    return number


def _parse_choice(text: str, choices: tuple[Any, ...]) -> Any:
    for choice in choices:
        if text == str(choice):
            return choice
    raise ValueError(f"needed one of {', '.join(map(str, choices))}")


def _parse_union(text: str, kinds: tuple[Any, ...]) -> Any:
    if types.NoneType in kinds and text.lower() == "none":
        return None
    problems = []
    for kind in kinds:
        if kind is not types.NoneType:
            try:
                return parse(text, kind)
            except ValueError as error:
                problems.append(str(error))
    raise ValueError(" or ".join(problems))
