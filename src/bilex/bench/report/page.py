"""A report as one self-contained page: sentences, tables, plots, and provenance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.bench.report.provenance import commands, files_used, made_with, settings_of
from bilex.page import html
from bilex.page.markup import html_table
from bilex.storage.strict_json import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bilex.bench.report.report import Report
    from bilex.page.charts import Chart

OPEN_TABLES = 2
"""The first tables are open; the others are folded."""


def page(report: Report, plots: Iterable[tuple[Chart, str]] = ()) -> str:
    """The report as HTML; `plots` are charts with their SVG."""
    grid = report.grid
    drawn = [html.figure(chart, svg) for chart, svg in plots]
    parts = [
        html.header(grid.title, grid.notes),
        html.summary(report.sentences),
        *map(html.note, grid.remarks),
        *(html.section(table, folded=i >= OPEN_TABLES) for i, table in enumerate(report.tables)),
        *([html.heading("Plots"), *drawn] if drawn else []),
        *_origin(report),
    ]
    return html.document(grid.title, parts)


def _origin(report: Report) -> list[str]:
    """Folded: commands, versions and machines, files and their hashes, settings."""
    grid = report.grid
    settings = {system.label: to_json(settings_of(system), indent=1) for system in grid.systems}
    each = "\n".join(html.collapsible(label, html.code(text)) for label, text in settings.items())
    return [
        html.heading("Provenance"),
        html.collapsible("Commands", html.code(commands(grid))),
        html.collapsible("Versions and machines", html_table(made_with(grid))),
        html.collapsible("Files", html_table(files_used(grid))),
        html.collapsible("Settings of each system", each),
    ]
