"""A method and its settings in a TOML file. `bilex tune` writes it, `bilex align --settings` reads it.

method = "ridge"

[settings]
penalty = "300"
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from bilex.errors import SettingsError
from bilex.settings.fields import to_text
from bilex.storage.files import atomic_write
from bilex.storage.strict_json import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class MethodSettings(NamedTuple):
    """The name of a method, and its settings as texts."""

    method: str
    settings: dict[str, str]


def write_settings(path: Path, chosen: MethodSettings, *, comments: Sequence[str] = ()) -> None:
    """Write the file, with comments at the top."""
    lines = [*(f"# {comment}" for comment in comments), f"method = {_quoted(chosen.method)}", "", "[settings]"]
    lines += [f"{_key(name)} = {_quoted(text)}" for name, text in chosen.settings.items()]
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def read_settings(path: Path) -> MethodSettings:
    """Read the file. Numbers, true, false and lists need no quotes."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}; needed a file as written by bilex tune") from error
    method, settings = found.get("method"), found.get("settings", {})
    if not isinstance(method, str) or not isinstance(settings, dict) or found.keys() - {"method", "settings"}:
        raise SettingsError(
            f'{path}: found {", ".join(found) or "nothing"}; needed a line method = "NAME" and a table [settings], '
            "and nothing else"
        )
    return MethodSettings(method, {name: _text(path, name, value) for name, value in settings.items()})


def _text(path: Path, name: str, value: Any) -> str:
    if isinstance(value, dict):
        raise SettingsError(f'{path}: {name} is a table; needed a value: write "{name}.{next(iter(value), "")}" = ...')
    return to_text(tuple(value) if isinstance(value, list) else value)


def _key(name: str) -> str:
    """A TOML key. It is quoted if needed, since a dot in a bare key would begin a table."""
    return name if name.isidentifier() and name.isascii() else _quoted(name)


def _quoted(text: str) -> str:
    return to_json(text)
