"""Read suites from TOML files, with a clear error for each kind of mistake; see docs/guides/benchmarks.md."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.bench.direction_table import read_direction
from bilex.bench.suite import Direction, Suite, System, slug
from bilex.bench.toml_table import TomlTable
from bilex.bench.variations import varied
from bilex.errors import SettingsError, SuiteError
from bilex.storage.disk import is_file
from bilex.text.suggest import suggestion

if TYPE_CHECKING:
    from os import PathLike

SHIPPED = Path(str(files("bilex.bench"))) / "suites"
RENAMED = {"muse-rich": "paper-table-1", "muse-low": "paper-table-2"}
"""Old names of suites."""
_DEFAULTS = ("settings", "directions", "rng_seeds", "pairs", "protocol")


def shipped() -> list[str]:
    """The names of the suites that come with bilex."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def read_suite(name: str | PathLike[str]) -> Suite:
    """A suite by its name, or by the path of its file."""
    path = _locate(str(name), Path())
    given = _load(path)
    directions = _read_directions(given, path)
    systems = _read_systems(given, path, directions)
    _check_labels(given, systems)
    used = {name for system in systems for name in system.directions}
    return Suite(
        name=path.stem,
        title=given.text("title"),
        notes=given.text("notes", ""),
        systems=tuple(systems),
        directions={name: direction for name, direction in directions.items() if name in used},
    )


def _locate(name: str, base: Path) -> Path:
    known, name = ", ".join(shipped()), RENAMED.get(name, name)
    if name in shipped():
        return SHIPPED / f"{name}.toml"
    if not name.endswith(".toml"):
        raise SuiteError(
            f"there is no suite {name!r}{suggestion(name, shipped())}; give one of {known}, or a .toml file"
        )
    if not is_file(base / name):
        raise SuiteError(f"{base / name}: there is no such file; suites that come with bilex: {known}")
    return base / name


def _load(path: Path) -> TomlTable:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise SuiteError(f"{path}: cannot be read: {error}; correct the file") from None
    table = TomlTable(path.name, "the suite", found)
    return table.only(
        "title", "notes", "directions_from", "directions", "defaults", "systems_from", "without", "systems"
    )


def _read_directions(given: TomlTable, path: Path) -> dict[str, Direction]:
    directions: dict[str, Direction] = {}
    for name in given.several("directions_from", str) or []:
        other = _locate(name, path.parent)
        other_suite = _load(other)
        if "directions_from" in other_suite:
            raise given.refusal(
                f"directions_from: {other.name} takes its directions from another suite; name that suite"
            )
        directions |= _read_directions(other_suite, other)
    own = given.table("directions", "directions")
    for name, value in own.values.items():
        directions[name] = read_direction(name, own.of(value, f"direction {name}"), path.parent)
    if not directions:
        raise given.refusal("there are no directions; give at least one, as [directions.en-fr]")
    return directions


def _read_systems(given: TomlTable, path: Path, directions: dict[str, Direction]) -> list[System]:
    defaults, tables = given.table("defaults", "defaults").only(*_DEFAULTS), given.tables("systems", "a system")
    chosen = {name: directions[name] for name in _chosen_directions(defaults, directions)}
    found = _borrowed_systems(given, path, chosen) if "systems_from" in given else []
    found += [system for own in tables for system in _read_system(own, defaults, directions)]
    if not found:
        raise given.refusal("there are no systems; give at least one, as [[systems]]")
    return found


def _borrowed_systems(given: TomlTable, path: Path, directions: dict[str, Direction]) -> list[System]:
    """The systems of another suite, as far as they are measured on these directions."""
    other = _locate(given.text("systems_from"), path.parent)
    theirs = _load(other)
    if "systems_from" in theirs:
        raise given.refusal(f"systems_from: {other.name} takes its systems from another suite; name that suite")
    elsewhere = _read_directions(theirs, other)
    found = _read_systems(theirs, other, elsewhere | directions)
    without = given.several("without", str) or []
    if unknown := [label for label in without if label not in {system.label for system in found}]:
        near = suggestion(unknown[0], [system.label for system in found])
        raise given.refusal(f"without: {other.name} has no system {unknown[0]!r}{near}")
    cut = [replace(s, directions=tuple(name for name in s.directions if name in directions)) for s in found]
    return [system for system in cut if system.directions and system.label not in without]


def _read_system(own: TomlTable, defaults: TomlTable, directions: dict[str, Direction]) -> list[System]:
    """One system for each variation and number of pairs."""
    named = replace(own, what=f"system {own.text('label', own.text('method'))}")
    named.only("label", "method", "vary", "search", *_DEFAULTS)
    return [system for each in varied(named) for system in _read_one(each, defaults, directions)]


def _read_one(own: TomlTable, defaults: TomlTable, directions: dict[str, Direction]) -> list[System]:
    method = own.text("method")
    label = own.text("label", method)
    own = replace(own, what=f"system {label}")
    merged = replace(own, values={**defaults.values, **own.values})
    settings = {**defaults.table("settings", "defaults: settings").values}
    settings |= own.table("settings", f"{own.what}: settings").values
    places = _chosen_directions(merged, directions)
    system = System(
        label=label,
        method=method,
        settings={key: _setting(merged, key, value) for key, value in settings.items()},
        directions=tuple(name for name in directions if name in places),
        rng_seeds=tuple(merged.several("rng_seeds", int) or [0]),
        protocol=merged.choice("protocol", "honest", "paper"),  # type: ignore[arg-type]
    )
    return [_finish(system, pairs, merged, directions) for pairs in merged.several("pairs", int) or [None]]


def _chosen_directions(given: TomlTable, directions: dict[str, Direction]) -> list[str]:
    """The names of the directions that a table chooses; by default all."""
    places = given.several("directions", str) or list(directions)
    if unknown := [name for name in places if name not in directions]:
        raise given.refusal(f"there is no direction {unknown[0]!r}; directions: {', '.join(directions)}")
    return places


def _setting(given: TomlTable, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise given.refusal(f"setting {key} = {value!r}; needed a text, as on the command line")


def _finish(system: System, pairs: int | None, given: TomlTable, directions: dict[str, Direction]) -> System:
    """The system with its full label, after the check of its method and settings."""
    if pairs is not None and pairs < 1:
        raise given.refusal(f"pairs = {pairs}; needed at least 1")
    suffixes = [] if pairs is None else [f"{pairs} pairs"]
    suffixes += ["paper protocol"] if system.protocol == "paper" else []
    try:
        method = system.make()
    except SettingsError as error:
        raise given.refusal(str(error)) from None
    if pairs is not None and not method.needs_pairs:
        raise given.refusal(f"pairs = {pairs}; {method.name} trains without a dictionary; leave out pairs")
    if method.needs_pairs and (without_train := [name for name in system.directions if directions[name].train is None]):
        raise given.refusal(
            f"{method.name} trains on a dictionary, but direction {without_train[0]} has no train; add it"
        )
    return replace(system, label=", ".join([system.label, *suffixes]), pairs=pairs)


def _check_labels(given: TomlTable, systems: list[System]) -> None:
    counts = Counter(slug(system.label).casefold() for system in systems)
    for system in systems:
        if counts[slug(system.label).casefold()] > 1:
            raise given.refusal(
                f"two systems have the label {system.label!r}, or nearly the same one; give each its own label"
            )
