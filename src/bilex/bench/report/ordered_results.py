"""Read a folder of results, in the order of its suite."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.bench.report.grid import Grid, Spot, System
from bilex.bench.results import read, read_suite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from bilex.bench.results import Cell

Key = tuple[str, str, int | None]


def read_grid(folder: str | PathLike[str]) -> Grid:
    """The results in a folder; in alphabetical order if the description of the suite is missing."""
    cells = read(folder)
    return make_grid(cells, read_suite(folder) if (Path(folder) / "suite.json").exists() else {})


def make_grid(cells: list[Cell], suite: dict[str, Any]) -> Grid:
    """Cells in the order of the suite; what it does not name comes last."""
    kept, remarks = _newest(cells)
    labels = _in_order((cell.system for cell in kept), _names(suite.get("systems"), "label"))
    directions = _in_order((cell.direction for cell in kept), _names(suite.get("directions"), "name"))
    remarks += _absent("systems", _names(suite.get("systems"), "label"), labels)
    remarks += _absent("directions", _names(suite.get("directions"), "name"), directions)
    remarks += _missing(suite.get("systems"), kept)
    groups: dict[Key, list[Cell]] = {}
    for cell in sorted(kept, key=lambda cell: (labels.index(cell.system), cell.pairs or math.inf, cell.protocol)):
        groups.setdefault(_key(cell), []).append(cell)
    systems = tuple(_system(_label(key, groups), found) for key, found in groups.items())
    name = str(suite.get("name") or kept[0].suite)
    notes = suite.get("notes") or ()
    return Grid(
        name=name,
        title=str(suite.get("title") or name),
        notes=(notes,) if isinstance(notes, str) else tuple(map(str, notes)),
        systems=systems,
        directions=tuple(directions),
        remarks=tuple(remarks + _different_words(systems, directions) + _trained_on(systems)),
    )


def _newest(cells: list[Cell]) -> tuple[list[Cell], list[str]]:
    """The newest of the cells that differ only in their settings or in the time when they were made."""
    latest: dict[tuple[object, ...], Cell] = {}
    for cell in sorted(cells, key=lambda cell: cell.made_at):
        latest[*_key(cell), cell.direction, cell.rng_seed] = cell
    older = len(cells) - len(latest)
    remark = [f"{older} older results of the same system, direction and seed are left out."] if older else []
    return list(latest.values()), remark


def _absent(what: str, named: list[str], found: list[str]) -> list[str]:
    missing = [name for name in named if name not in found]
    return [f"Of the suite's {what}, these have no results yet: {'; '.join(missing)}."] if missing else []


def _missing(systems: Any, cells: list[Cell]) -> list[str]:
    """Number of missing runs of each system that has some results, by the plan of the suite."""
    there = {(cell.system, cell.direction, cell.rng_seed) for cell in cells}
    begun = {cell.system for cell in cells}
    planned = [
        (system["label"], direction, seed)
        for system in systems or ()
        if isinstance(system, dict) and system.get("label") in begun
        for direction in system.get("directions") or ()
        for seed in system.get("rng_seeds") or ()
    ]
    counts = Counter(label for label, *rest in planned if (label, *rest) not in there)
    listed = "; ".join(f"{label} ({count})" for label, count in counts.items())
    return [f"Runs of the suite that are still missing: {listed}."] if counts else []


def _different_words(systems: tuple[System, ...], directions: list[str]) -> list[str]:
    return [
        f"{direction}: not all systems were tested on the same words; they are not compared word by word there."
        for direction in directions
        if len({system.at(direction).words for system in systems if system.at(direction).done}) > 1
    ]


def _trained_on(systems: tuple[System, ...]) -> list[str]:
    """Remarks on test words that were in train or dev. Systems with the paper's protocol have a label of their own."""
    cells = [cell for system in systems if system.honest for cell in system.cells if cell.scores]
    flattered = {cell.direction for cell in cells if (cell.scores or {}).get("train_overlap")}
    text = (
        "test words were also in train or dev, so the figures are too high; use dictionaries that share no source word."
    )
    return [f"{direction}: {text}" for direction in sorted(flattered)]


def _key(cell: Cell) -> Key:
    return cell.system, cell.protocol, cell.pairs


def _label(key: Key, groups: dict[Key, list[Cell]]) -> str:
    """The label of the suite, with the number of pairs if needed; choices on the test dictionary are always named."""
    label, protocol, pairs = key
    same = Counter((label, protocol) for label, protocol, _ in groups)
    if same[label, protocol] > 1:
        label += ", all pairs" if pairs is None else f", {pairs} pairs"
    return label if protocol == "honest" else f"{label} (chosen on test)"


def _system(label: str, cells: list[Cell]) -> System:
    spots: dict[str, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.rng_seed):
        spots.setdefault(cell.direction, []).append(cell)
    first = cells[0]
    return System(
        label=label,
        method=first.method,
        settings=first.settings,
        pairs=first.pairs,
        protocol=first.protocol,
        spots={direction: Spot(tuple(found)) for direction, found in spots.items()},
    )


def _names(entries: Any, key: str) -> list[str]:
    """Names in a list of names or of objects that have one, or the keys of an object."""
    if not isinstance(entries, (list, dict)):
        return []
    return [str(entry.get(key)) if isinstance(entry, dict) else str(entry) for entry in entries]


def _in_order(found: Iterable[str], order: list[str]) -> list[str]:
    there = set(found := list(found))
    return list(dict.fromkeys([name for name in order if name in there] + sorted(there)))
