"""bilex bench report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.io import standard

if TYPE_CHECKING:
    from pathlib import Path

# Repeated here so that --help need not import numpy; a test checks that they equal those of bilex.bench.
FORMATS = ("markdown", "latex", "csv", "html", "svg")
METRICS = (
    "p_at_1",
    "p_at_5",
    "p_at_10",
    "mrr",
    "p_at_1_all",
    "p_at_5_all",
    "p_at_10_all",
    "mrr_all",
    "coverage",
    "seconds",
    "peak_gigabytes",
)


@click.command()
@click.argument("folder", type=options.RunPath)
@click.option(
    "--output", type=options.RunPath, metavar="OUT", help="Folder to write to; without it, the report is printed."
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="html is one page with plots, svg the plots as files; repeatable.  [default: markdown]",
)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(METRICS),
    multiple=True,
    help="Metric to show in a table; repeatable.  [default: p_at_1, p_at_1_all]",
)
@click.option("--compare", multiple=True, metavar="A,B", help="Compare two systems by their labels; repeatable.")
@click.option(
    "--named",
    multiple=True,
    metavar="PATTERN",
    help="Systems to compare with the best of the others; repeatable.  [default: rapo*]",
)
@click.option("--published/--no-published", default=True, help="Also show the figures that the RAPO paper published.")
@click.option("--plots/--no-plots", default=True, help="Plots in the page; they need the extra `plots`.")
@click.option("--force", is_flag=True, help="Replace files in OUT.")
@options.as_json
def report(
    folder: Path,
    output: Path | None,
    formats: tuple[str, ...],
    metrics: tuple[str, ...],
    compare: tuple[str, ...],
    named: tuple[str, ...],
    published: bool,
    plots: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Tables, significance tests and plots of the results in FOLDER, which `bilex bench run` wrote.

    The report of an incomplete FOLDER covers the results so far. Failed cells are counted as failed.
    """
    from bilex.bench.report.report import NAMED, PRINTABLE, make_report, write

    kinds = formats or ("markdown",)
    if output is None and not as_json and (len(kinds) > 1 or kinds[0] not in PRINTABLE):
        raise click.UsageError(f"--format {' --format '.join(kinds)} is written to files; give a folder with --output")
    made = make_report(
        folder,
        metrics=metrics or METRICS[:1] + METRICS[4:5],
        pairs=[_two_labels(text, folder) for text in compare],
        named=named or NAMED,
        beside=published,
    )
    written = [] if output is None else write(made, output, kinds, plots=plots, force=force)
    options.say(*(f"written: {path}" for path in written))
    if as_json:
        options.print_json({**made.to_json(), "written": [str(path) for path in written]})
    elif output is None:
        standard.write([made.text(kinds[0])])


def _two_labels(text: str, folder: Path) -> tuple[str, str]:
    """Two labels with a comma between them. Labels may contain commas too: the split that makes both known is taken."""
    from bilex.bench.report.ordered_results import read_grid

    known = {system.label for system in read_grid(folder).systems}
    parts = text.split(",")
    if len(parts) < 2:
        raise click.BadParameter(f"found {text!r}; needed two labels, A,B", param_hint="--compare")
    splits = [(",".join(parts[:i]).strip(), ",".join(parts[i:]).strip()) for i in range(1, len(parts))]
    return next((split for split in splits if known.issuperset(split)), splits[0])
