"""bilex methods."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.completion import complete_method

if TYPE_CHECKING:
    from bilex.methods.base import Method
    from bilex.settings.fields import SearchSpace
    from bilex.settings.presets import Preset
    from bilex.settings.setting import Setting

WIDTH, INDENT = 80, "  "


@click.command()
@click.argument("name", required=False, shell_complete=complete_method)
@options.as_json
def methods(name: str | None, as_json: bool) -> None:
    """List the methods, or describe the one called NAME: what it does, its paper, and what each setting means."""
    from bilex.methods.base import all_methods, get_method

    if name is None:
        known = all_methods()
        if as_json:
            options.print_json([_describe(method) for method in known.values()])
        else:
            options.print_table(["method", "what it is"], [(m.name, m.summary()) for m in known.values()], left=2)
        return
    kind = type(get_method(name))
    described = _describe(kind)
    if as_json:
        options.print_json(described)
        return
    options.show(f"{described['name']}, {described['supervision']}\n\n{described['description']}\n")
    options.show(f"Paper: {described['paper']}\n")
    for name, preset in kind.presets().items():
        options.show(*_preset_lines(name, preset))
    for name, space in kind.search_spaces.items():
        options.show(*_space_lines(name, space))
    options.show("Settings, for --set KEY=VALUE:")
    for setting in kind.settings():
        options.show("", *_lines(setting))


def _lines(setting: Setting) -> list[str]:
    """A setting with its default, its type and the range worth searching; then what it means."""
    from bilex.settings.fields import to_text

    searched = "" if setting.range is None else f"; searched: {setting.range}"
    about = [f"{setting.name}={to_text(setting.default)}", f"({setting.type}{searched})"]
    meaning = setting.description
    if setting.type in ("method", setting.default):
        meaning += f" Its settings are {setting.name}.KEY: see `bilex methods {setting.default}`."
    return [*_wrapped("  ".join(about), INDENT, 3 * INDENT), *_wrapped(meaning, 2 * INDENT, 2 * INDENT)]


def _preset_lines(name: str, preset: Preset) -> list[str]:
    """A preset with what it is, and its settings."""
    from bilex.settings.fields import to_text

    settings = "  ".join(f"{key}={to_text(value)}" for key, value in preset.settings.items())
    about = [*_wrapped(preset.about, INDENT, INDENT), *_wrapped(settings, 2 * INDENT, 2 * INDENT)]
    return [f"Settings of --preset {name}:", *about, ""]


def _space_lines(name: str, space: SearchSpace) -> list[str]:
    """A search space other than that of the settings."""
    ranges = [line for key, values in space.items() for line in _wrapped(f"{key}: {values}", INDENT, 3 * INDENT)]
    return [f"Searched by bilex tune --space {name}:", *ranges, ""]


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _describe(method: type[Method]) -> dict[str, Any]:
    return {
        "name": method.name,
        "summary": method.summary(),
        "description": inspect.getdoc(method) or "",
        "paper": method.paper,
        "supervision": method.supervision(),
        "uses_dev": method.uses_dev,
        "presets": {name: preset._asdict() for name, preset in method.presets().items()},
        "search_spaces": {name: _plain_space(space) for name, space in method.search_spaces.items()},
        "settings": [setting.to_json() for setting in method.settings()],
    }


def _plain_space(space: SearchSpace) -> dict[str, Any]:
    return {name: dataclasses.asdict(values) for name, values in space.items()}
