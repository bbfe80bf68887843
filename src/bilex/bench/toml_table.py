"""A table of a TOML file with typed access to its values. An error names the place in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bilex.errors import SuiteError
from bilex.text.suggest import suggestion

_NEEDED = {int: "whole numbers", str: "names"}


@dataclass(frozen=True)
class TomlTable:
    """Keys and values; `file` and `what` name the place in messages."""

    file: str
    what: str
    values: dict[str, Any]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def only(self, *known: str) -> TomlTable:
        """The table itself; an error if it has other keys."""
        for key in self.values:
            if key not in known:
                near = suggestion(key, known)
                raise self.refusal(f"has an unknown key {key!r}{near}; keys: {', '.join(known)}")
        return self

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty; without a default it is required."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or not (value.strip() or value == default):
            raise self.refusal(f"{key} is {'missing' if value is None else repr(value)}; needed a text")
        return value

    def number(self, key: str) -> int | None:
        """A whole number above 0; None if the key is missing."""
        value = self.values.get(key)
        if value is not None and (not _is(value, int) or value < 1):
            raise self.refusal(f"{key} = {value!r}; needed a whole number of at least 1")
        return value

    def choice(self, key: str, *choices: str) -> str:
        """One of these texts; the first is the default."""
        value = self.text(key, choices[0])
        if value not in choices:
            raise self.refusal(f"{key} = {value!r}; needed one of {', '.join(choices)}")
        return value

    def several(self, key: str, kind: type) -> list[Any] | None:
        """A list of different values of one type, or a single value; None if the key is missing."""
        if key not in self:
            return None
        value = self.values[key]
        values = value if isinstance(value, list) else [value]
        if not values or not all(_is(item, kind) for item in values) or len(set(values)) < len(values):
            raise self.refusal(f"{key} = {value!r}; needed a list of different {_NEEDED[kind]}")
        return values

    def table(self, key: str, what: str) -> TomlTable:
        """A table inside this one; empty if the key is missing."""
        return self.of(self.values.get(key, {}), what)

    def tables(self, key: str, what: str) -> list[TomlTable]:
        """The tables of an array inside this one."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.refusal(f"{key} is {value!r}; needed an array of tables, as [[{key}]]")
        return [self.of(item, what) for item in value]

    def of(self, value: Any, what: str) -> TomlTable:
        """A value as a table of the same file."""
        if not isinstance(value, dict):
            raise TomlTable(self.file, what, {}).refusal(f"is {value!r}; needed a table of keys and values")
        return TomlTable(self.file, what, value)

    def refusal(self, message: str) -> SuiteError:
        """An error message with the place in the file."""
        return SuiteError(f"{self.file}: {self.what}: {message}")


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
