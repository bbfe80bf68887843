"""What cells need before they can run: input files, and extras of bilex."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.errors import MissingExtraError, SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bilex.bench.inputs import Input
    from bilex.bench.suite import Planned
    from bilex.methods.base import Requirement


def check_needs(cells: Sequence[Planned]) -> None:
    """Refuse to start if an input file or an extra is missing."""
    for wanted in inputs(cells):
        wanted.find()
    for requirement, systems in requirements(cells).items():
        if not requirement.installed:
            raise MissingExtraError(requirement.package, requirement.extra, f"system {systems[0]}")


def inputs(cells: Iterable[Planned]) -> list[Input]:
    """The input files of the cells, each once."""
    directions = {cell.direction.name: cell.direction for cell in cells}
    return list(dict.fromkeys(part for direction in directions.values() for part in direction.inputs()))


def missing_files(cells: Iterable[Planned]) -> list[str]:
    """What is said about files that are not there, a line for each; the last one says how to fetch those of MUSE."""
    found: dict[str, str] = {}
    pairs: dict[str, None] = {}
    for wanted in inputs(cells):
        try:
            wanted.find()
        except SuiteError as error:
            file, separator, advice = str(error).partition("; ")
            found[file] = "" if wanted.place == "muse" else separator + advice
            pairs |= {wanted.pair: None} if wanted.place == "muse" else {}
    fetch = [f"fetch them with bilex data fetch muse {' '.join(pairs)}"] if pairs else []
    return [file + advice for file, advice in found.items()] + fetch


def requirements(cells: Iterable[Planned]) -> dict[Requirement, list[str]]:
    """The optional packages that the methods of the cells need, with the labels of the systems."""
    found: dict[Requirement, list[str]] = {}
    for system in {cell.system.label: cell.system for cell in cells}.values():
        if (requirement := system.make().requires) is not None:
            found.setdefault(requirement, []).append(system.label)
    return found
