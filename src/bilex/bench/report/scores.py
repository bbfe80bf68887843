"""The table of scores: systems by directions, the best in bold, with published figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.bench.report.comparison import LEVELS, NOTE, leaders
from bilex.bench.report.metrics import MAIN
from bilex.bench.report.published import OTHER_NOTE, SAME_NOTE, published, same_vectors
from bilex.page.tables import EMPTY, Entry, Row, Table, row
from bilex.settings.presets import PRESET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bilex.bench.report.comparison import Comparison
    from bilex.bench.report.grid import Grid, Spot, System
    from bilex.bench.report.metrics import Metric

PUBLISHED = {False: "published, other vectors", True: "published"}
"""Labels of the rows with published figures, by whether the vectors are the same."""
MARKS = ", ".join(f"{mark}: p < {level}" for level, mark in LEVELS) + (
    " against the best peer; for the best system of a direction without named peers, against the best of the others. "
    "The best system was selected by the same figures, and the p-values are not corrected for this selection."
)
SCORE_NOTE = (
    "Mean and standard deviation over the finished random seeds. The best row of a direction is bold, among the "
    "systems without a failed seed and without choices on test. The mean column is only for systems that are "
    "complete on all directions."
)


def score_table(grid: Grid, metric: Metric = MAIN, *, margins: Sequence[Comparison] = (), beside: bool = True) -> Table:
    """Systems by directions; for P@1 with significance marks, and with `beside` published figures below their systems.

    margins: comparisons with peers. The best system of a direction without one is compared with the best of the others.
    """
    best = {direction: _best(grid, direction, metric) for direction in grid.directions}
    tested = [*leaders(grid), *margins] if metric is MAIN else []
    marks = {(comparison.first, comparison.direction): comparison.mark for comparison in tested}
    last = {system.method: system for system in grid.systems if _as_published(system)}
    rows: list[Row] = []
    for system in grid.systems:
        entries = [
            _score(system.at(d), metric, best[d] if system.honest else None, marks.get((system.label, d), ""))
            for d in grid.directions
        ]
        mean = system.mean(metric, grid.directions)
        rows.append(row(system.label, *entries, EMPTY if mean is None else metric.show(mean)))
        if beside and metric is MAIN and system is last.get(system.method):
            rows += _published(grid, system)
    notes = [SCORE_NOTE] if metric.ranked else ["Mean and standard deviation over the finished random seeds."]
    notes += [f"{MARKS} {NOTE}"] if any(marks.values()) else []
    if any(found.beside for found in rows):
        notes += [SAME_NOTE if same_vectors(grid) else OTHER_NOTE]
    header = (metric.heading, *grid.directions, "mean")
    return Table(metric.name, f"{metric.heading}, {metric.about}", header, tuple(rows), tuple(notes))


def _best(grid: Grid, direction: str, metric: Metric) -> float | None:
    """The highest mean of the complete systems; None if systems were tested on different words."""
    spots = [system.at(direction) for system in grid.systems if system.honest]
    if not metric.ranked or len({spot.words for spot in spots if spot.done}) > 1:
        return None
    means = [mean for spot in spots if spot.complete and (mean := spot.mean(metric)) is not None]
    return max(means) if len(means) > 1 else None


def _score(spot: Spot, metric: Metric, best: float | None, mark: str) -> Entry:
    mean, spread = spot.mean(metric), spot.spread(metric)
    if mean is None:
        return Entry(_lost(spot) or EMPTY)
    text = metric.show(mean) + ("" if spread is None else f" ± {metric.show(spread)}")
    lost = f" ({_lost(spot)})" if spot.lost else ""
    return Entry(text + lost, bold=spot.complete and mean == best, mark=mark)


def _lost(spot: Spot) -> str:
    """Such as "2 failed" if some seeds have scores, "failed" if none has."""
    parts = []
    for status, word in (("failed", "failed"), ("error", "error")):
        count = sum(cell.status == status for cell in spot.cells)
        if count:
            parts.append(f"{count} {word}" if spot.done or count < len(spot.cells) else word)
    return ", ".join(parts)


def _as_published(system: System) -> bool:
    """Whether the published figures of its method belong beside it: it has its defaults or a preset, and all pairs."""
    return system.settings.keys() <= {PRESET} and system.pairs is None


def _published(grid: Grid, system: System) -> list[Row]:
    """Published figures of the method of a system."""
    figures = published().get(system.method, {})
    if not any(direction in figures for direction in grid.directions):
        return []
    shown = [f"{figures[d]:.1f}" if d in figures else "" for d in grid.directions]
    return [Row(row(PUBLISHED[same_vectors(grid)], *shown, "").entries, beside=True)]
