"""Training curves, from the records of the method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.page.charts import MAX_LINES, Chart, Line, points_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bilex.training.trace import Record

STEPS = ("epoch", "iteration", "reweighting", "round", "linear_round")
"""Counters of records, the innermost first."""
MAX_PANELS = 6
"""Panels in one plot at most."""


def training_charts(records: Sequence[Record]) -> list[Chart]:
    """A chart for each kind of step, with a panel for each figure that changes."""
    found = [_chart(step, [r for r in records if _step(r) == step]) for step in STEPS]
    return [chart for chart in found if chart.panels]


def _chart(step: str, records: Sequence[Record]) -> Chart:
    names = dict.fromkeys(name for record in records for name in record if _is_figure(name, record))
    ordered = sorted(names, key=lambda name: (not name.startswith("dev"), name.endswith("error")))
    panels = [(name, _lines(step, name, records)) for name in ordered]
    caption = f"Figures of the method after each {step}."
    drawn = tuple((name, lines) for name, lines in panels if lines)[:MAX_PANELS]
    return Chart(f"training-{step}", f"Training, by {step}", caption, step, "", drawn)


def _step(record: Record) -> str | None:
    return next((step for step in STEPS if step in record), None)


def _is_figure(name: str, record: Record) -> bool:
    value = record[name]
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and name not in STEPS and not name.endswith("seconds") and not name.startswith("kept")


def _lines(step: str, name: str, records: Sequence[Record]) -> tuple[Line, ...]:
    """A line for each training. A new line begins where the step number does not increase; the last lines are kept."""
    lines: list[tuple[str, dict[float, float]]] = []
    for record in records:
        at, value, label = record[step], record.get(name), _label(step, record)
        if not isinstance(at, int | float) or not isinstance(value, int | float):
            continue
        if not lines or lines[-1][0] != label or at <= max(lines[-1][1]):
            lines.append((label, {}))
        lines[-1][1][at] = value
    drawn = [(label, points) for label, points in lines if len(points) > 1 and len(set(points.values())) > 1]
    return tuple(Line(label, *points_of(points)) for label, points in drawn[-MAX_LINES:])


def _label(step: str, record: Record) -> str:
    """The outer steps of the record, such as "round 2"."""
    around = [f"{key} {record[key]}" for key in ("stage", *STEPS) if key in record and key != step]
    return ", ".join(around) or "training"
