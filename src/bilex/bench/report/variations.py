"""Plots of systems of one method that differ in one setting, or in the number of dictionary pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex.bench.report.grid import inputs
from bilex.bench.report.metrics import MAIN
from bilex.bench.report.published import published_curves, same_vectors
from bilex.bench.report.scores import PUBLISHED
from bilex.page.charts import MAX_LINES, Chart, Line, points_of
from bilex.storage.strict_json import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.bench.report.grid import Grid, System

MIN_VALUES = 3
"""Values of a setting that a plot needs."""


def few_pairs(grid: Grid) -> Chart:
    """P@1 by the number of dictionary pairs, for methods with several numbers."""
    panels = []
    for direction in grid.directions:
        found: dict[str, dict[float, float]] = {}
        for system in grid.systems:
            mean, pairs = system.at(direction).mean(MAIN), _pairs(system, direction)
            if mean is not None and pairs and system.honest:
                found.setdefault(_described(system), {})[pairs] = mean
        lines = [Line(k, *points_of(v)) for k, v in found.items() if len(v) >= 2][:MAX_LINES]
        panels += [(direction, tuple(lines))] if lines else []
    caption = "Mean over the seeds. The rightmost point is the whole dictionary, if it was measured too."
    return Chart("few-pairs", "With few pairs", caption, "pairs given", "P@1", tuple(panels), log_x=True)


def sensitivity(grid: Grid, *, beside: bool = True) -> list[Chart]:
    """P@1 by a setting, if at least three systems of one method differ only in that setting.

    beside: with the curves of the RAPO paper in a separate panel.
    """
    groups: dict[tuple[str, str, str], dict[float, System]] = {}
    for system in grid.systems:
        settings = _resolved(system)
        for name, value in settings.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool) and system.honest:
                rest = to_json([[k, v] for k, v in sorted(settings.items()) if k != name] + [system.pairs])
                groups.setdefault((system.method, name, rest), {})[float(value)] = system
    return [
        _sensitivity(grid, method, name, systems, number, beside=beside)
        for number, ((method, name, _), systems) in enumerate(
            (key, systems) for key, systems in groups.items() if len(systems) >= MIN_VALUES
        )
    ]


def _sensitivity(
    grid: Grid, method: str, name: str, systems: dict[float, System], number: int, *, beside: bool
) -> Chart:
    lines = []
    for direction in grid.directions:
        means = {value: system.at(direction).mean(MAIN) for value, system in systems.items()}
        known = {value: mean for value, mean in means.items() if mean is not None}
        lines += [Line(direction, *points_of(known))] if len(known) > 1 else []
    caption = f"{method}, all other settings the same; mean over the seeds."
    theirs = published_curves().get(name.removeprefix("base."), {}) if beside and method.startswith("rapo") else {}
    panels = [("here" if theirs else "", tuple(lines[:MAX_LINES]))] if lines else []
    if lines and theirs:
        same = same_vectors(grid)
        panels += [(PUBLISHED[same], tuple(Line(d, *points_of(curve)) for d, curve in theirs.items()))]
        caption += " The published curves are of rapo_semi"
        caption += "." if same else ", with other vectors: compare only the shapes."
    return Chart(f"sensitivity-{number + 1}", f"{method}: {name}", caption, name, "P@1", tuple(panels))


def _pairs(system: System, direction: str) -> float | None:
    if system.pairs is not None:
        return system.pairs
    found = [inputs(cell).get("train", {}).get("pairs") for cell in system.at(direction).done]
    return next((float(pairs) for pairs in found if pairs), None)


def _described(system: System) -> str:
    return " ".join([system.method, *(f"{name}={value}" for name, value in system.settings.items())])


def _resolved(system: System) -> dict[str, Any]:
    """All settings, including defaults; nested settings have names with a dot."""
    found = next((inputs(cell).get("settings") for cell in system.cells if inputs(cell)), None)
    return dict(_flat(found or {}))


def _flat(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
