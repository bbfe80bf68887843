"""Presets: named settings of methods, such as those of a paper; they are in presets.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from bilex.errors import SettingsError
from bilex.text.suggest import suggestion

PRESET = "preset"
"""The name by which a preset is given among settings."""


class Preset(NamedTuple):
    """Settings with a name, and a sentence about them. One of the settings may be another preset."""

    about: str
    settings: dict[str, Any]


def presets_of(method: str) -> dict[str, Preset]:
    """The presets of a method by name, in the order of the file; none for most methods."""
    return {name: Preset(**found) for name, found in _file().get(method, {}).items()}


def with_preset(method: str | None, given: dict[str, Any], what: str) -> dict[str, Any]:
    """The given settings of a method after those of their preset, if one is among them.  what: for messages."""
    if method is None or PRESET not in given:
        return given
    known, name = presets_of(method), given[PRESET]
    if not known:
        raise SettingsError(f"{what} has no presets; leave out `{PRESET}`")
    if not isinstance(name, str) or name not in known:
        near = suggestion(str(name), known)
        raise SettingsError(f"{what} has no preset {name!r}{near}; it has: {', '.join(known)}")
    rest = {key: value for key, value in given.items() if key != PRESET}
    return with_preset(method, known[name].settings, what) | rest


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads((files("bilex.settings") / "presets.toml").read_text(encoding="utf-8"))
