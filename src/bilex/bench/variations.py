"""Systems that a suite makes of one: `vary` changes one setting at a time, `search` draws settings at random."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bilex.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.bench.toml_table import TomlTable

TRIALS = 50
"""Trials of a search, as in the program of RAPO's authors."""


def varied(own: TomlTable) -> list[TomlTable]:
    """The tables of all systems that a table of a suite stands for; itself without `vary` and `search`."""
    if "vary" in own and "search" in own:
        raise own.refusal("has vary and search; make two systems of it")
    if "vary" in own:
        return list(_one_at_a_time(own))
    return list(_at_random(own)) if "search" in own else [own]


def _one_at_a_time(own: TomlTable) -> Iterator[TomlTable]:
    """A system for each value of each setting."""
    settings = own.table("vary", f"{own.what}: vary")
    for key, values in settings.values.items():
        if not isinstance(values, list) or not values:
            raise settings.refusal(f"{key} = {values!r}; needed a list of values")
        for value in values:
            yield _with(own, f"{key}={value}", {key: value})


def _at_random(own: TomlTable) -> Iterator[TomlTable]:
    """Trial 0 has the given settings, with those of the preset of the space; all others are drawn from the space."""
    import numpy as np

    from bilex.tune.space import Space

    given = own.table("search", f"{own.what}: search").only("space", "trials")
    fixed = own.table("settings", f"{own.what}: settings").values
    try:
        space = Space.of(own.text("method"), {key: str(value) for key, value in fixed.items()}, given.text("space"))
    except SettingsError as error:
        raise own.refusal(str(error)) from None
    yield _with(own, "trial 0", space.given)
    for number in range(1, given.number("trials") or TRIALS):
        generator = np.random.default_rng(number)
        yield _with(own, f"trial {number}", space.given | space.draw(generator))


def _with(own: TomlTable, name: str, settings: dict[str, Any]) -> TomlTable:
    """The table with more settings, and with a name after its label."""
    kept = {key: value for key, value in own.values.items() if key not in ("vary", "search")}
    label = f"{kept['label']}, {name}" if "label" in kept else name
    return replace(own, values={**kept, "label": label, "settings": {**kept.get("settings", {}), **settings}})
