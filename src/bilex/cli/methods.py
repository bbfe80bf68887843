"""bilex methods."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.completion import complete_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.methods.base import Method


@click.command()
@click.argument("name", required=False, shell_complete=complete_method)
@options.as_json
def methods(name: str | None, as_json: bool) -> None:
    """List the methods, or say all about the one called NAME: what it does, its paper, its settings."""
    from bilex.methods.base import all_methods, get_method

    if name is None:
        known = all_methods()
        if as_json:
            options.print_json([_describe(method) for method in known.values()])
        else:
            options.print_table(["method", "what it is"], [(m.name, m.summary()) for m in known.values()], left=2)
        return
    described = _describe(type(get_method(name)))
    if as_json:
        options.print_json(described)
        return
    options.show(f"{described['name']}, {described['supervision']}\n\n{described['description']}\n")
    options.show(f"Paper: {described['paper']}\n")
    rows = [(s["name"], s["type"], s["default"]) for s in described["settings"]]
    options.print_table(["setting (--set KEY=VALUE)", "type", "default"], rows, left=3, fold=False)


def _describe(method: type[Method]) -> dict[str, Any]:
    return {
        "name": method.name,
        "summary": method.summary(),
        "description": inspect.getdoc(method) or "",
        "paper": method.paper,
        "supervision": method.supervision(),
        "uses_dev": method.uses_dev,
        "settings": list(settings_of(method())),
    }


def settings_of(given: Any, prefix: str = "") -> Iterator[dict[str, Any]]:
    """Name, type and default of each setting; of a method among them only what differs from its own defaults."""
    from bilex.methods.base import Method
    from bilex.settings.fields import describe, field_types

    kinds = field_types(type(given))
    for field in dataclasses.fields(given):
        value, name = getattr(given, field.name), prefix + field.name
        if not dataclasses.is_dataclass(value):
            plain = ",".join(map(str, value)) if isinstance(value, tuple) else value
            yield {"name": name, "type": describe(kinds[field.name]), "default": plain}
        elif isinstance(value, Method):
            yield {"name": name, "type": describe(kinds[field.name]).lower(), "default": value.name}
            usual = {setting["name"]: setting for setting in settings_of(type(value)(), f"{name}.")}
            yield from (setting for setting in settings_of(value, f"{name}.") if setting != usual[setting["name"]])
        else:
            yield from settings_of(value, f"{name}.")
