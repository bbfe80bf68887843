"""The settings of a method one by one: name, type, default, description, and the range worth searching."""

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
    """One setting of a method."""

    name: str
    """Fields of a nested dataclass are named with a dot: `induction.max_rank`."""
    type: str
    default: Any
    """As a user would write it. A method is given by its name."""
    description: str
    range: Choice | Range | None = None
    """The values that `bilex tune` searches. None: it keeps the default."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return dataclasses.asdict(self)


def list_settings(given: Any, search_space: SearchSpace | None = None, prefix: str = "") -> Iterator[Setting]:
    """The fields of a method and of its nested dataclasses. Of an inner method, only changed fields."""
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
    """The docstring below each field of a dataclass, in one line. Descriptions of base classes are inherited."""
    descriptions: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if dataclasses.is_dataclass(base):
            descriptions |= _own_descriptions(base)
    return descriptions


def _own_descriptions(cls: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):  # no source: the class was typed into a prompt, or only its bytecode exists
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
