"""bilex bench run; `bilex bench report` is in bench_report.py."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.groups import SuggestingGroup
from bilex.cli.interruption import note_on_interruption, this_command
from bilex.cli.parameters import as_options

if TYPE_CHECKING:
    from bilex.bench.estimate import Estimate
    from bilex.bench.results import Cell
    from bilex.bench.runner import Progress
    from bilex.bench.suite import Planned, Suite


class BenchGroup(SuggestingGroup):
    """The group; `report` is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order in which they are used."""
        return [*super().list_commands(ctx), "report"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name == "report":
            from bilex.cli.bench_report import report

            return report
        return super().get_command(ctx, cmd_name)


@click.group(cls=BenchGroup)
def bench() -> None:
    """Run benchmarks on many language pairs, and report the results. An interrupted run can continue."""


@bench.command()
@click.argument("suite")
@click.option(
    "--output", type=options.RunPath, metavar="FOLDER", help="Folder of the results.  [default: bench-output/SUITE]"
)
@click.option("--systems", multiple=True, metavar="LABEL", help="Only these systems; * matches any text; repeatable.")
@click.option("--directions", metavar="NAME,...", help="Only these directions.")
@click.option("--rng-seeds", metavar="N,...", help="These seeds instead of those of the suite.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Cells that run in parallel.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads for each cell.")
@options.cluster
@click.option("--list", "--dry-run", "only_list", is_flag=True, help="List the cells and their results; run nothing.")
@options.device
@options.as_json
def run(
    suite: str,
    output: Path | None,
    systems: tuple[str, ...],
    directions: str | None,
    rng_seeds: str | None,
    jobs: int,
    threads: int,
    cluster: str | None,
    only_list: bool,
    device: str,
    as_json: bool,
) -> None:
    """Run SUITE and save a result for each cell, that is one system on one direction with one random seed.

    \b
    SUITE is a .toml file of your own, or a suite that comes with bilex:
      sample, sample-presets, sample-ladder,
      open, open-ablations, open-few, open-one-language, open-paper-protocol,
      open-presets, open-sensitivity.
      The paper of RAPO with the vectors of MUSE: paper-table-1,
      paper-table-2, paper-table-3, paper-table-4, paper-table-5,
      paper-figure-3, paper-search.
      The same with open vectors: open-table-1, open-table-2, open-table-3,
      open-table-4, open-table-5, open-figure-3, open-search

    Cells whose results are in FOLDER already are not run again. After an interruption, the same command continues.
    """  # noqa: D301 (click keeps the lines of a paragraph after it)
    from bilex.bench.runner import run as run_suite
    from bilex.bench.suite import Suite

    chosen = Suite.read(suite)
    folder = output or Path("bench-output") / chosen.name
    cells = chosen.cells(
        systems=systems,
        directions=None if directions is None else directions.split(","),
        rng_seeds=None if rng_seeds is None else _numbers(rng_seeds),
    )
    if only_list:
        _print_list(cells, folder, as_json=as_json)
        return
    with note_on_interruption(lambda: f"finished cells are saved; to continue, run the same command:{this_command()}"):
        results = run_suite(
            chosen, folder, cells=cells, jobs=jobs, threads=threads, device=device, cluster=cluster, tell=_say_progress
        )
    _print_results(chosen, folder, list(zip(cells, results, strict=True)), as_json=as_json)
    if any(cell.status == "error" for cell in results):
        options.say("some cells ended with an error; to run them again, use the same command")
        click.get_current_context().exit(1)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"found {text!r}; needed whole numbers, as 0,1,2", param_hint="--rng-seeds") from None


def _say_progress(now: Progress) -> None:
    options.say(f"{now.done}/{now.all}  {now.name}: {_outcome(now.cell)}{_left(now.left)}")


def _left(left: Estimate) -> str:
    """Time and memory of the cells that are left, as far as they can be told from those that are done."""
    from bilex.fitting.duration import rough

    if not left.cells or left.seconds is None:
        return ""
    memory = "" if left.gigabytes is None else f", up to {left.gigabytes:.1f} GB each"
    return f"; {rough(left.seconds)} for the other {left.cells}{memory}"


def _outcome(cell: Cell) -> str:
    if cell.scores is None:
        return f"{cell.status}: {as_options(cell.error or '')}"
    seconds = "" if cell.seconds is None else f" in {cell.seconds:.1f} s"
    return f"P@1 {cell.scores['p_at_1']:.2f}{seconds}"


def _print_list(cells: list[Planned], folder: Path, *, as_json: bool) -> None:
    from bilex.bench.inputs import Store
    from bilex.bench.needs import missing_files, requirements
    from bilex.bench.runner import known, to_run

    store = Store(converts=False)
    found = [(cell, known(folder, cell.name), to_run(folder, cell, store)) for cell in cells]
    if as_json:
        options.print_json([{**_to_json(cell, result), "to_run": needed} for cell, result, needed in found])
        return
    answers = {True: "yes", False: "no", None: "?"}
    rows = [
        (cell.system.label, cell.direction.name, result.status if result else "-", answers[needed], cell.rng_seed)
        for cell, result, needed in found
    ]
    options.print_table(["system", "direction", "result", "to run", "seed"], rows, left=4, fold=False)
    to_do, unknown = (sum(needed is answer for *_, needed in found) for answer in (True, None))
    results = sum(result is not None for _, result, _ in found)
    options.say(f"{len(rows)} cells, {results} with a result in {folder}; {to_do} to run")
    for requirement, systems in requirements(cells).items():
        there = "installed" if requirement.installed else f"missing: pip install 'bilex[{requirement.extra}]'"
        options.say(f"needs the extra {requirement.extra} ({there}): {', '.join(systems)}")
    options.say(*map(as_options, missing_files(cells)))
    if unknown:
        options.say(
            f"?: {unknown} results could not be checked, because their data are missing or not converted yet; "
            "`bilex bench run` repeats those that were made from other data or settings"
        )


def _print_results(suite: Suite, folder: Path, found: list[tuple[Planned, Cell]], *, as_json: bool) -> None:
    if as_json:
        options.print_json(
            {"suite": suite.name, "folder": str(folder), "cells": [_to_json(cell, result) for cell, result in found]}
        )
        return
    directions = [name for name in suite.directions if any(cell.direction.name == name for cell, _ in found)]
    labels = dict.fromkeys(system.label for system in suite.systems)
    rows = []
    for label in labels:
        own = [(cell.direction.name, result) for cell, result in found if cell.system.label == label]
        if own:
            rows.append((label, *(_entry([cell for name, cell in own if name == d]) for d in directions)))
    options.print_table(["P@1", *directions], rows, fold=False)
    options.say(f"results in {folder}; next: bilex bench report {folder}")


def _entry(cells: list[Cell]) -> str:
    """The mean over the seeds, and how many of them have no scores."""
    scores = [cell.scores["p_at_1"] for cell in cells if cell.scores is not None]
    if not scores:
        return cells[0].status if cells else ""
    failed = len(cells) - len(scores)
    return f"{statistics.mean(scores):.2f}" + (f" ({failed} failed)" if failed else "")


def _to_json(cell: Planned, result: Cell | None) -> dict[str, Any]:
    scores = result.scores if result is not None else None
    return {
        "name": cell.name,
        "system": cell.system.label,
        "direction": cell.direction.name,
        "rng_seed": cell.rng_seed,
        "status": None if result is None else result.status,
        "error": None if result is None or result.error is None else as_options(result.error),
        "p_at_1": None if scores is None else scores["p_at_1"],
    }
