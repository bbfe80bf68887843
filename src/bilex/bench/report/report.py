"""A report on the results of a suite: sentences, tables and plots, printed or written to a folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bilex.bench.report import tables
from bilex.bench.report.comparison import compare, margins
from bilex.bench.report.metrics import MAIN, METRICS
from bilex.bench.report.ordered_results import read_grid
from bilex.bench.report.scores import score_table
from bilex.bench.report.search import search_table
from bilex.bench.report.summary import sentences
from bilex.errors import ResultsError
from bilex.page.markup import csv_text, escape_latex, escape_markdown, latex, markdown, table_csv
from bilex.storage.disk import describe_os_error
from bilex.storage.files import atomic_write
from bilex.text.words import word_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    from bilex.bench.report.comparison import Comparison
    from bilex.bench.report.grid import Grid, System
    from bilex.page.charts import Chart
    from bilex.page.tables import Table

FORMATS = ("markdown", "latex", "csv", "html", "svg")
PRINTABLE = ("markdown", "latex", "csv")
NAMED = ("rapo*",)


@dataclass(frozen=True)
class Report:
    """The contents of a report."""

    grid: Grid
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    margins: tuple[Comparison, ...]
    comparisons: tuple[Comparison, ...]
    beside: bool = True
    """Whether published figures are shown too."""

    def text(self, kind: str) -> str:
        """The report in Markdown or LaTeX, or the scores in CSV. Characters that UTF-8 cannot encode are replaced."""
        return self._text(kind).encode("utf-8", "replace").decode("utf-8")

    def _text(self, kind: str) -> str:
        if kind == "csv":
            return scores_csv(self.grid)
        if kind == "latex":
            head = "".join(f"% {escape_latex(sentence)}\n" for sentence in self.sentences)
            return "% Needs \\usepackage{booktabs}.\n" + head + "\n" + "\n".join(map(latex, self.tables))
        said = [f"- {escape_markdown(sentence)}" for sentence in (*self.sentences, *self.grid.remarks)]
        notes = [f"{escape_markdown(note)}\n" for note in self.grid.notes]
        head = "\n".join([f"# {escape_markdown(self.grid.title)}", "", *notes, *said, "", ""])
        return head + "\n".join(map(markdown, self.tables))

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "suite": self.grid.name,
            "title": self.grid.title,
            "directions": self.grid.directions,
            "summary": self.sentences,
            "remarks": self.grid.remarks,
            "systems": [_system_json(system) for system in self.grid.systems],
            "margins": [_comparison_json(comparison) for comparison in self.margins],
            "comparisons": [_comparison_json(comparison) for comparison in self.comparisons],
        }


def make_report(
    folder: str | PathLike[str],
    *,
    metrics: str | Iterable[str] = ("p_at_1", "p_at_1_all"),
    pairs: Sequence[tuple[str, str]] = (),
    named: str | Iterable[str] = NAMED,
    beside: bool = True,
) -> Report:
    """A report on a folder of results.

    pairs: systems to compare with each other; named: patterns of systems to compare with their best peer;
    beside: show published figures too.
    """
    if any(isinstance(pair, str) for pair in pairs):
        raise ResultsError(f"pairs={pairs!r}: needed pairs of systems, such as [('rapo', 'geomm')]")
    grid = read_grid(folder)
    found = margins(grid, word_list(named, "named"))
    compared = [comparison for first, second in pairs for comparison in compare(grid, first, second)]
    if pairs and not compared:
        raise ResultsError(
            "the systems to compare have no direction with the same test words; run both on the same direction"
        )
    made = [
        *(score_table(grid, METRICS[name], margins=found, beside=beside) for name in word_list(metrics, "metrics")),
        tables.comparison_table(found, "margins", "Against the best peer"),
        tables.comparison_table(compared, "comparisons", "Compared"),
        search_table(grid),
        tables.cost_table(grid),
        tables.data_table(grid),
        tables.failure_table(grid),
    ]
    kept = tuple(table for table in made if table.rows)
    return Report(grid, tuple(sentences(grid, found)), kept, tuple(found), tuple(compared), beside)


def scores_csv(grid: Grid) -> str:
    """Every figure of every system and direction, one per line."""
    header = ("system", "method", "pairs", "protocol", "direction", "metric", "mean", "sd", "done", "failed", "errors")
    return csv_text(header, _score_rows(grid))


def write(report: Report, out: Path, kinds: Sequence[str], *, plots: bool = True, force: bool = False) -> list[Path]:
    """Write the report to a folder in these formats. Returns the paths of the files."""
    contents = dict(_contents(report, kinds, plots=plots))
    taken = [out / name for name in contents if (out / name).exists()]
    if taken and not force:
        raise ResultsError(f"{taken[0]} exists already and is left as it is: choose another folder, or `force=True`")
    try:
        for name, text in contents.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(out / name) as temporary:
                temporary.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise ResultsError(
            f"{error.filename or out}: cannot be written: {describe_os_error(error, 'choose another folder')}"
        ) from error
    return [out / name for name in contents]


def _contents(report: Report, kinds: Sequence[str], *, plots: bool) -> Iterator[tuple[str, str]]:
    from bilex.bench.report.page import page

    drawn = _drawn(report) if "svg" in kinds or ("html" in kinds and plots) else []
    if "markdown" in kinds:
        yield "report.md", report.text("markdown")
    if "latex" in kinds:
        yield "report.tex", report.text("latex")
    if "csv" in kinds:
        yield "scores.csv", scores_csv(report.grid)
        yield from ((f"{table.name}.csv", table_csv(table)) for table in report.tables if table.name not in METRICS)
    if "html" in kinds:
        yield "report.html", page(report, drawn if plots else ())
    if "svg" in kinds:
        yield from ((f"plots/{chart.name}.svg", svg) for chart, svg in drawn)


def _drawn(report: Report) -> list[tuple[Chart, str]]:
    from bilex.bench.report.curves import charts
    from bilex.page.plots import draw

    return [(chart, draw(chart)) for chart in charts(report.grid, beside=report.beside)]


def _score_rows(grid: Grid) -> Iterator[tuple[object, ...]]:
    for system in grid.systems:
        for direction, spot in system.spots.items():
            failed, errors = (sum(cell.status == status for cell in spot.cells) for status in ("failed", "error"))
            for metric in METRICS.values():
                mean, spread = spot.mean(metric), spot.spread(metric)
                figures = ("" if value is None else f"{value:.6g}" for value in (mean, spread))
                own = (system.label, system.method, system.pairs or "", system.protocol, direction, metric.name)
                yield *own, *figures, len(spot.done), failed, errors


def _system_json(system: System) -> dict[str, Any]:
    return {
        "label": system.label,
        "method": system.method,
        "settings": system.settings,
        "pairs": system.pairs,
        "protocol": system.protocol,
        "directions": {
            direction: {
                "seeds": [cell.rng_seed for cell in spot.cells],
                "status": [cell.status for cell in spot.cells],
                "errors": [cell.error for cell in spot.cells if not cell.done],
                **{name: spot.values(metric) for name, metric in METRICS.items()},
            }
            for direction, spot in system.spots.items()
        },
    }


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    tests = {seed: test._asdict() for seed, test in comparison.tests.items()}
    return {**asdict(comparison), "tests": tests, "difference": comparison.difference, "metric": MAIN.name}
