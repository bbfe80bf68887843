"""Parts of a self-contained HTML page. It loads no other files, and supports light and dark themes."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from bilex.page.markup import escape_html, html_table
from bilex.page.plots import inline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bilex.page.charts import Chart
    from bilex.page.tables import Table


def document(title: str, parts: Iterable[str]) -> str:
    """A complete page from parts in HTML."""
    css = files("bilex.page").joinpath("page.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{escape_html(title)}</title>\n<style>\n{css}</style>"
    )
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def header(title: str, notes: Iterable[str]) -> str:
    """The title of the page, with notes below."""
    return "\n".join([f"<header><h1>{escape_html(title)}</h1>", *map(paragraph, notes), "</header>"])


def heading(title: str) -> str:
    """The heading of a section."""
    return f"<h2>{escape_html(title)}</h2>"


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape_html(text)}</p>"


def note(text: str) -> str:
    """A paragraph in small type."""
    return f'<p class="note">{escape_html(text)}</p>'


def summary(texts: Iterable[str]) -> str:
    """The main results, as a list in a box."""
    items = "\n".join(f"<li>{escape_html(text)}</li>" for text in texts)
    return f'<ul class="summary">\n{items}\n</ul>'


def section(table: Table, *, folded: bool = False) -> str:
    """A table with its title. folded: collapsed until the reader opens it."""
    if folded:
        return collapsible(table.title, html_table(table))
    return f"<section>{heading(table.title)}\n{html_table(table)}</section>"


def figure(chart: Chart, svg: str) -> str:
    """A chart with its title and caption. svg: the output of `plots.draw`."""
    caption = f"<figcaption><b>{escape_html(chart.title)}.</b> {escape_html(chart.caption)}</figcaption>"
    return f'<figure><div class="frame">{inline(svg, chart.name, chart.title)}</div>{caption}</figure>'


def collapsible(title: str, body: str) -> str:
    """A section that is collapsed until the reader opens it."""
    return f"<details><summary>{escape_html(title)}</summary>\n{body}</details>"


def code(text: str) -> str:
    """Preformatted text, such as commands."""
    return f"<pre>{escape_html(text)}</pre>"
