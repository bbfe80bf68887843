"""The directions of a suite, read from its TOML file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from bilex.bench.inputs import Input, Kind, Place
from bilex.bench.suite import Direction, slug

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.bench.toml_table import TomlTable

_PARTS: dict[str, Kind] = {"source": "table", "target": "table", "train": "dictionary", "test": "dictionary"}
_WHOLE = {"sample": ("train", "test"), "muse": ("0-5000", "5000-6500")}
"""Places with all files of a language pair, and the names of the train and test dictionaries there."""
PLACES: tuple[Place, ...] = get_args(Place)


def read_direction(name: str, given: TomlTable, base: Path) -> Direction:
    """A direction from its TOML table. Paths are relative to `base`."""
    if slug(name) != name:
        raise given.refusal("its name is used in file names; use only letters, digits, - and _")
    for place, dictionaries in _WHOLE.items():
        if place in given:
            return _read_whole(name, given.only(place, "max_words"), base, place, dictionaries)
    given.only(*_PARTS)
    return _make(name, {part: given.values.get(part) for part in _PARTS}, given, base, pair=name)


def _read_whole(name: str, given: TomlTable, base: Path, place: str, dictionaries: tuple[str, str]) -> Direction:
    pair, more = given.text(place), {key: value for key, value in given.values.items() if key != place}
    source, dash, target = pair.partition("-")
    if not (source and dash and target):
        raise given.refusal(f"{place} = {pair!r}; needed two languages, as en-fr")
    train, test = dictionaries
    parts = {
        "source": {place: source, **more},
        "target": {place: target, **more},
        "train": {place: f"{pair}.{train}"},
        "test": {place: f"{pair}.{test}"},
    }
    return _make(name, parts, given, base, pair=pair)


def _make(name: str, parts: dict[str, Any], given: TomlTable, base: Path, *, pair: str) -> Direction:
    for part in ("source", "target", "test"):
        if parts[part] is None:
            raise given.refusal(f"has no {part}; needed source, target, test, and train unless no system trains on it")
    inputs: dict[str, Input | None] = {}
    for part, kind in _PARTS.items():
        tables = tuple(found for found in inputs.values() if found and found.kind == "table")
        own = None if parts[part] is None else given.of(parts[part], f"{given.what}: {part}")
        inputs[part] = None if own is None else _read_input(own, kind, base, pair, tables)
    return Direction(name=name, **inputs)  # type: ignore[arg-type]


def _read_input(given: TomlTable, kind: Kind, base: Path, pair: str, tables: tuple[Input, ...]) -> Input:
    known = tuple(place for place in PLACES if place != {"table": "identical", "dictionary": "shared"}[kind])
    given.only(*known, *(("max_words",) if kind == "table" else ()), "sha256")
    places = [place for place in known if place in given]
    if len(places) != 1:
        raise given.refusal(f"names {len(places)} places; needed one of {', '.join(known)}")
    name = given.text(places[0])
    if places[0] == "identical" and not re.fullmatch(r"\d{1,9}-\d{1,9}", name):
        raise given.refusal(f"identical = {name!r}; needed a range of the words of both tables, as '0-5000'")
    return Input(
        kind=kind,
        place=places[0],
        name=name,
        base=base,
        max_words=given.number("max_words"),
        sha256=given.text("sha256") if "sha256" in given else None,
        pair=pair,
        tables=tables if places[0] == "identical" else (),
    )
