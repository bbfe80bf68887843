"""bilex report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.dictionaries import format_options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("run", type=options.RunPath)
@click.option(
    "--test", type=options.FilePath, metavar="DICT", help="Test dictionary, of words that were not trained on."
)
@click.option("--output", type=options.OutputPath, help="HTML file to write.  [default: report.html in RUN]")
@click.option("--plots/--no-plots", default=True, help="Plots in the page; they need the extra `plots`.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@format_options
@options.fold_case
@options.device
@options.as_json
def report(
    run: Path,
    test: Path | None,
    output: Path | None,
    plots: bool,
    force: bool,
    fold_case: bool,
    device: str,
    as_json: bool,
    how: dict[str, Any],
) -> None:
    """Write an HTML page about the alignment in RUN. It is one file, loads nothing else, and can be sent as it is.

    The page shows the inputs and settings, the accuracy with confidence intervals on DICT and on the dev dictionary of
    the run, training curves, frequent and rare words, hubs, examples to check by hand, coverage, and what to cite.
    """
    from bilex.page.plots import require_matplotlib
    from bilex.report.page import page
    from bilex.report.run_report import make_run_report
    from bilex.storage.files import atomic_write

    alignment = options.load_run(run, device)
    path = run / "report.html" if output is None else output
    options.check_free(path, force=force)
    if plots:
        require_matplotlib()
    lexicon = None if test is None else options.read_lexicon(test, how)
    with options.progress("searching") as bar:
        made = make_run_report(alignment, lexicon, fold_case=fold_case, progress=bar)
    text = page(made, plots=plots)
    with atomic_write(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))
    if as_json:
        options.print_json({**made.to_json(), "written": str(path)})
    options.say(*made.sentences(), f"written to {path}")
