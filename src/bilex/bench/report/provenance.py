"""Provenance of the results, from their cells: commands, versions, machines, files and settings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bilex.bench.report.grid import inputs
from bilex.page.tables import EMPTY, Table, row
from bilex.storage.files import file_name

if TYPE_CHECKING:
    from bilex.bench.report.grid import Grid, System
    from bilex.bench.results import Cell

MADE_WITH = ("bilex", "torch", "numpy", "python", "platform", "device", "threads")
HASH_DIGITS = 16


def commands(grid: Grid) -> str:
    """The commands that make the results and the report again."""
    seeds = ",".join(map(str, sorted({cell.rng_seed for cell in grid.cells})))
    return (
        f"bilex bench run {grid.name} --output FOLDER    # random seeds {seeds}\n"
        "bilex bench report FOLDER --format html --output OUT"
    )


def made_with(grid: Grid) -> Table:
    """Each combination of versions and machine, with the number of its results and their time."""
    found: dict[tuple[str, ...], list[Cell]] = {}
    for cell in grid.cells:
        versions = (cell.provenance or {}).get("made_with") or {}
        found.setdefault(tuple(str(versions.get(name, EMPTY)) for name in MADE_WITH), []).append(cell)
    rows = []
    for versions_, cells in found.items():
        when = sorted(cell.made_at for cell in cells)
        rows.append(row(*versions_, f"{when[0]} to {when[-1]}", len(cells)))
    header = (*MADE_WITH, "made at (UTC)", "results")
    return Table("made-with", "Versions and machines", header, tuple(rows), left=len(header) - 1)


def files_used(grid: Grid) -> Table:
    """Files by name and hash, without their folders."""
    found: Counter[tuple[str, ...]] = Counter()
    for cell in grid.cells:
        for part in ("source", "target", "train", "dev"):
            described = inputs(cell).get(part) or {}
            if described.get("sha256"):
                name = str(described.get("file") or EMPTY)
                found[cell.direction, part, file_name(name), str(described["sha256"])[:HASH_DIGITS]] += 1
    rows = tuple(row(*key, count) for key, count in sorted(found.items()))
    notes = (
        f"The first {HASH_DIGITS} digits of SHA-256. Inputs without a file, such as a reduced dictionary, have none.",
    )
    return Table("files", "Files", ("direction", "as", "file", "SHA-256", "results"), rows, notes, left=4)


def settings_of(system: System) -> dict[str, Any]:
    """The given settings, and all settings of the method."""
    resolved = next((inputs(cell).get("settings") for cell in system.cells if inputs(cell)), None)
    return {
        "method": system.method,
        "pairs": system.pairs,
        "protocol": system.protocol,
        "given": system.settings,
        "all": resolved,
        "keys": {f"{cell.direction}, seed {cell.rng_seed}": cell.key for cell in system.cells},
    }
