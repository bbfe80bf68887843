"""A report on a run as one self-contained page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.page import html
from bilex.page.charts import Chart, Line
from bilex.page.markup import html_table
from bilex.report import tables
from bilex.report.training import training_charts

if TYPE_CHECKING:
    from bilex.page.tables import Table
    from bilex.report.figures import Figures
    from bilex.report.run_report import RunReport

WRONG = "A right translation that the dictionary lacks counts as wrong."
GAPS = "Both directions agree on the first answer, but the dictionary has others. The answer may be a right one."
DOUBTFUL = (
    "Pairs of the train dictionary whose target has a low rank although it was trained on. Some of them are errors of "
    "the dictionary, others are rare meanings, or words with poor vectors."
)


def page(report: RunReport, *, plots: bool = True) -> str:
    """The report as HTML; plots need the extra `plots`."""
    parts = [
        html.header(report.title, [f"A run of bilex {report.alignment.provenance['made_with']['bilex']}."]),
        html.summary(report.sentences()),
        *_figures(report),
        *map(html.section, _described(report)),
        *([figure for chart in charts(report) for figure in _drawn(chart)] if plots else []),
        *_lists(report),
        *_cite(report),
        *_origin(report),
    ]
    return html.document(report.title, parts)


def charts(report: RunReport) -> list[Chart]:
    """Accuracy by frequency, and the training."""
    found = [_bands(report.measured[0])] if report.measured else []
    return [chart for chart in found if chart.panels] + training_charts(report.alignment.trace.records)


def _figures(report: RunReport) -> list[str]:
    if not report.measured:
        return []
    return [html.section(tables.score_table(report.measured)), html.section(tables.band_table(report.measured[0]))]


def _described(report: RunReport) -> list[Table]:
    words = report.alignment.target.words
    return [
        tables.aligned_table(report.alignment, report.test),
        tables.coverage_table(report.coverage),
        tables.hubness_table(report.hubness, words),
    ]


def _lists(report: RunReport) -> list[str]:
    part = report.measured[0].part if report.measured else ""
    found = [
        tables.example_table("right", f"Right answers ({part})", report.right, "From frequent to rare words."),
        tables.example_table("wrong", f"Wrong answers ({part})", report.wrong, f"From frequent to rare words. {WRONG}"),
        tables.example_table("gaps", f"Possible gaps of the dictionary ({part})", report.gaps, GAPS),
        tables.example_table("doubtful", "Doubtful entries of the train dictionary", report.doubtful, DOUBTFUL),
    ]
    return [html.section(table) for table in found if table.rows]


def _cite(report: RunReport) -> list[str]:
    licences = tables.licence_table(report.files)
    shown = [html_table(licences)] if licences.rows else []
    return [html.heading("How to cite"), *map(html.paragraph, report.citations), *shown]


def _origin(report: RunReport) -> list[str]:
    provenance = report.alignment.provenance
    folded = [tables.settings_table(report.inputs), tables.files_table(report.inputs)]
    folded += [tables.versions_table(provenance["made_with"])]
    made = [html.section(table, folded=True) for table in folded if table.rows]
    return [html.heading("Provenance"), *made]


def _bands(figures: Figures) -> Chart:
    ticks = tuple(f"{band.first + 1:,}-{band.last + 1:,}" for band in figures.csls.bands)
    named = {"CSLS": figures.csls, "nearest neighbour": figures.nearest}
    places = tuple(float(i) for i in range(len(ticks)))
    lines = [Line(name, places, tuple(b.scores.p_at_1 for b in result.bands)) for name, result in named.items()]
    panels = (("", tuple(lines)),) if len(ticks) > 1 else ()
    caption = f"P@1 on the {figures.part} dictionary by rows of the source table, the most frequent words first."
    return Chart("bands", "Frequent and rare words", caption, "rows", "P@1", panels, ticks=ticks)


def _drawn(chart: Chart) -> list[str]:
    from bilex.page.plots import draw

    return [html.figure(chart, draw(chart))]
