"""The settings of a method one by one: what each is for, its default, its type, and the range worth searching."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bilex.settings.fields import Choice, Range, SearchSpace, describe, field_types

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """What there is to know of a setting."""

    name: str
    """A dot leads to the settings of a setting: `induction.max_rank`."""
    type: str
    default: Any
    """As it is given in text; a method by its name."""
    description: str
    range: Choice | Range | None = None
    """What `bilex tune` searches; none: it leaves the default."""

    def to_json(self) -> dict[str, Any]:
        """In plain values."""
        return dataclasses.asdict(self)


def list_settings(given: Any, search_space: SearchSpace | None = None, prefix: str = "") -> Iterator[Setting]:
    """The fields of a method, or of a part of one, and theirs; of an inner method those that are not its defaults."""
    cls: type = type(given)
    ranges = search_space or {}
    kinds, descriptions = field_types(cls), field_descriptions(cls)
    for field in dataclasses.fields(given):
        value, name = getattr(given, field.name), prefix + field.name
        is_method = hasattr(value, "from_name")
        if is_method or not dataclasses.is_dataclass(value):
            yield Setting(
                name=name,
                type=describe(kinds[field.name]),
                default=value.name if is_method else _plain(value),
                description=descriptions.get(field.name, ""),
                range=ranges.get(name),
            )
        if is_method:
            usual = {setting.name: setting for setting in list_settings(type(value)(), prefix=f"{name}.")}
            yield from (own for own in list_settings(value, prefix=f"{name}.") if own != usual[own.name])
        elif dataclasses.is_dataclass(value):
            yield from list_settings(value, ranges, f"{name}.")


@cache
def field_descriptions(cls: type) -> dict[str, str]:
    """The text literal below each field of a dataclass, in one line; that of a base if the class itself has none."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if dataclasses.is_dataclass(base):
            found |= _own_descriptions(base)
    return found


def _own_descriptions(cls: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):  # it was typed into a prompt, or there is only its bytecode
        return {}
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: " ".join(literal.value.value.split())
        for field, literal in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(literal, ast.Expr)
        and isinstance(literal.value, ast.Constant)
        and isinstance(literal.value.value, str)
    }


def _plain(value: Any) -> Any:
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
