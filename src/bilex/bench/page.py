"""A report as one page that needs nothing else: what it says, tables, plots, and where it all comes from."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

from bilex.bench.markup import escape_html, html_table
from bilex.bench.origin import commands, files_used, made_with, settings_of
from bilex.bench.plots import inline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bilex.bench.curves import Chart
    from bilex.bench.report import Report
    from bilex.bench.tables import Table

OPEN = 2
"""So many tables are open at first; the others are folded."""


def page(report: Report, plots: Iterable[tuple[Chart, str]] = ()) -> str:
    """The report as HTML; `plots` are charts with their SVG."""
    grid = report.grid
    drawn = [_plot(chart, svg) for chart, svg in plots]
    parts = [
        f"<header><h1>{escape_html(grid.title)}</h1>",
        *(f"<p>{escape_html(note)}</p>" for note in grid.notes),
        "</header>",
        _list(report.sentences, "summary"),
        *(f'<p class="note">{escape_html(remark)}</p>' for remark in grid.remarks),
        *(_table(table, folded=i >= OPEN) for i, table in enumerate(report.tables)),
        *(["<h2>Plots</h2>", *drawn] if drawn else []),
        _origin(report),
    ]
    return _document(grid.title, "\n".join(parts))


def _document(title: str, body: str) -> str:
    css = files("bilex.bench").joinpath("page.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{escape_html(title)}</title>\n<style>\n{css}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def _table(table: Table, *, folded: bool) -> str:
    title = escape_html(table.title)
    if folded:
        return f"<details><summary>{title}</summary>\n{html_table(table)}</details>"
    return f"<section><h2>{title}</h2>\n{html_table(table)}</section>"


def _plot(chart: Chart, svg: str) -> str:
    caption = f"<figcaption><b>{escape_html(chart.title)}.</b> {escape_html(chart.caption)}</figcaption>"
    return f'<figure><div class="frame">{inline(svg, chart.name, chart.title)}</div>{caption}</figure>'


def _origin(report: Report) -> str:
    """Folded: commands, versions and machines, files and their hashes, settings."""
    grid = report.grid
    settings = {system.label: json.dumps(settings_of(system), indent=1, ensure_ascii=False) for system in grid.systems}
    return "\n".join(
        [
            "<h2>Where it comes from</h2>",
            _folded("Commands", _code(commands(grid))),
            _folded("Versions and machines", html_table(made_with(grid))),
            _folded("Files", html_table(files_used(grid))),
            _folded(
                "Settings of each system", "\n".join(_folded(label, _code(text)) for label, text in settings.items())
            ),
        ]
    )


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{escape_html(title)}</summary>\n{body}</details>"


def _code(text: str) -> str:
    return f"<pre>{escape_html(text)}</pre>"


def _list(texts: Iterable[str], kind: str) -> str:
    items = "\n".join(f"<li>{escape_html(text)}</li>" for text in texts)
    return f'<ul class="{kind}">\n{items}\n</ul>'
