"""The data of the plots of a report."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bilex.bench.report.metrics import MAIN, METRICS
from bilex.page.charts import MAX_LINES, Chart, Line, points_of

if TYPE_CHECKING:
    from bilex.bench.report.grid import Grid, Spot, System
    from bilex.bench.results import Cell

MIN_WORDS = 10
"""Test words that a point in the plot of frequent and rare words needs."""


def charts(grid: Grid, *, beside: bool = True) -> list[Chart]:
    """All plots for which there are results. Systems with a reduced dictionary are only in their own plot.

    beside: with published curves, if there are any.
    """
    from bilex.bench.report.variations import few_pairs, sensitivity

    whole = replace(grid, systems=tuple(system for system in grid.systems if system.pairs is None) or grid.systems)
    found = [cost(whole), bands(whole), few_pairs(grid), *sensitivity(grid, beside=beside), training(whole)]
    return [chart for chart in found if chart is not None and chart.panels]


def cost(grid: Grid) -> Chart | None:
    """Seconds and mean P@1 of the systems that are complete on all directions of the plot."""
    directions = _common(grid)
    lines = []
    for system in grid.systems:
        mean, seconds = (system.mean(metric, directions) for metric in (MAIN, METRICS["seconds"]))
        if mean is not None and seconds is not None and seconds > 0:
            lines.append(Line(system.label, (seconds,), (mean,)))
    if len(lines) < 2:
        return None
    caption = f"Mean over {', '.join(directions)}, for systems that are complete there. Up and left is better."
    panels = (("", tuple(lines)),)
    return Chart("cost", "Cost and accuracy", caption, "seconds of training", "P@1", panels, log_x=True, points=True)


def bands(grid: Grid) -> Chart:
    """P@1 by frequency of the source word."""
    systems = _best(grid)
    starts = sorted({(band["first"], band["last"]) for cell in grid.cells for band in _frequency_bands(cell)})
    names = {first: f"{first + 1:,}-{last + 1:,}" for first, last in starts}
    place = {first: i for i, first in enumerate(names)}
    panels = []
    for direction in grid.directions:
        found = [(system.label, _bands(system.at(direction))) for system in systems]
        lines = [
            Line(label, tuple(place[first] for first in sorted(p)), tuple(p[first] for first in sorted(p)))
            for label, p in found
            if len(p) > 1
        ]
        panels += [(direction, tuple(lines))] if lines else []
    caption = (
        f"Rows of the source table, the most frequent words first; at least {MIN_WORDS} test words. {_chosen(grid)}"
    )
    title = "Frequent and rare words"
    return Chart("bands", title, caption, "rows", "P@1", tuple(panels), ticks=tuple(names.values()))


def training(grid: Grid) -> Chart:
    """The dev figure over the epochs, each seed a line."""
    panels = []
    for direction in grid.directions:
        lines = [line for system in _trained(grid) for line in _epochs(system, system.at(direction))]
        panels += [(direction, tuple(lines))] if lines else []
    caption = "MRR on the dev words, a line for each random seed and training. " + _chosen(grid, among="trained ")
    return Chart("training", "Training", caption, "epoch", "dev MRR", tuple(panels))


def _common(grid: Grid) -> tuple[str, ...]:
    """The directions that maximize the number of complete systems times the number of directions."""
    there = {d: {system.label for system in grid.systems if system.at(d).complete} for d in grid.directions}
    ordered = sorted(there, key=lambda d: -len(there[d]))
    sizes = {n: n * len(set.intersection(*(there[d] for d in ordered[:n]))) for n in range(1, len(ordered) + 1)}
    chosen = ordered[: max(sizes, key=lambda n: sizes[n])]
    return tuple(direction for direction in grid.directions if direction in chosen)


def _best(grid: Grid) -> list[System]:
    """The systems with the best mean over the common directions, in the order of the suite."""
    directions = _common(grid)
    means = {s.label: mean for s in grid.systems if (mean := s.mean(MAIN, directions)) is not None}
    best = sorted(means, key=lambda label: -means[label])[:MAX_LINES]
    return [system for system in grid.systems if system.label in best]


def _trained(grid: Grid) -> list[System]:
    """The best of the systems whose records have epochs with dev figures."""
    found = [s for s in grid.systems if any(_epochs(s, spot) for spot in s.spots.values())]
    scored = {s.label: statistics.mean(v for spot in s.spots.values() for v in spot.values(MAIN)) for s in found}
    best = sorted(scored, key=lambda label: -scored[label])[:MAX_LINES]
    return [system for system in found if system.label in best]


def _chosen(grid: Grid, among: str = "") -> str:
    return f"The {MAX_LINES} best {among}systems." if len(grid.systems) > MAX_LINES else ""


def _bands(spot: Spot) -> dict[int, float]:
    """Mean P@1 over the seeds, by the first row of the band."""
    found: dict[int, list[float]] = {}
    for cell in spot.done:
        for band in _frequency_bands(cell):
            found.setdefault(band["first"], []).append(band["p_at_1"])
    return {first: statistics.mean(values) for first, values in found.items()}


def _frequency_bands(cell: Cell) -> list[dict[str, Any]]:
    """The frequency bands with enough test words."""
    return [band for band in (cell.scores or {}).get("bands", ()) if band["covered"] >= MIN_WORDS]


def _epochs(system: System, spot: Spot) -> list[Line]:
    """A line for each training. A new line begins where the epoch does not increase."""
    lines: list[list[tuple[float, float]]] = []
    for cell in spot.done:
        last = math.inf
        for record in cell.trace:
            epoch, dev = record.get("epoch"), record.get("dev")
            if epoch is None or dev is None:
                continue
            if epoch <= last:
                lines.append([])
            lines[-1].append((epoch, dev))
            last = epoch
    return [Line(system.label, *points_of(dict(line))) for line in lines if len(line) > 1]
