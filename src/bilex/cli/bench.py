"""bilex bench run; `bilex bench report` is in bench_report.py."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.groups import SuggestingGroup
from bilex.cli.interruption import telling, this_command
from bilex.cli.parameters import as_options

if TYPE_CHECKING:
    from bilex.bench.results import Cell
    from bilex.bench.runner import Progress
    from bilex.bench.suite import Planned, Suite


class BenchGroup(SuggestingGroup):
    """The group; `report` is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of work."""
        return [*super().list_commands(ctx), "report"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name == "report":
            from bilex.cli.bench_report import report

            return report
        return super().get_command(ctx, cmd_name)


@click.group(cls=BenchGroup)
def bench() -> None:
    """Measure systems on many language pairs, resumably, and report on them."""


@bench.command()
@click.argument("suite")
@click.option("--output", type=options.RunPath, metavar="FOLDER", help="Results.  [default: bench-output/SUITE]")
@click.option("--systems", multiple=True, metavar="LABEL", help="Only these; * stands for anything; repeatable.")
@click.option("--directions", metavar="NAME,...", help="Only these.")
@click.option("--rng-seeds", metavar="N,...", help="These instead of the suite's.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Cells side by side.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads for each cell.")
@options.cluster
@click.option("--list", "--dry-run", "only_list", is_flag=True, help="Say what would be run, and what is there.")
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
    """Run SUITE and keep a result for each cell, that is one system on one direction with one random seed.

    \b
    SUITE is a .toml file of your own, or one that comes with bilex:
      sample, open, open-ablations, open-few, open-paper-protocol,
      open-sensitivity, muse-rich, muse-low

    Cells that are in FOLDER already are not run again: after an interruption the same command goes on.
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
    with telling(lambda: f"finished cells are kept, and the same command goes on{this_command()}"):
        results = run_suite(
            chosen, folder, cells=cells, jobs=jobs, threads=threads, device=device, cluster=cluster, tell=_tell
        )
    _print_results(chosen, folder, list(zip(cells, results, strict=True)), as_json=as_json)
    if any(cell.status == "error" for cell in results):
        options.say("some cells ended with an error; the same command tries them again")
        click.get_current_context().exit(1)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"found {text!r}; needed whole numbers, as 0,1,2", param_hint="--rng-seeds") from None


def _tell(now: Progress) -> None:
    options.say(f"{now.done}/{now.all}  {now.name}: {_told(now.cell)}")


def _told(cell: Cell) -> str:
    if cell.scores is None:
        return f"{cell.status}: {as_options(cell.error or '')}"
    seconds = "" if cell.seconds is None else f" in {cell.seconds:.1f} s"
    return f"P@1 {cell.scores['p_at_1']:.2f}{seconds}"


def _print_list(cells: list[Planned], folder: Path, *, as_json: bool) -> None:
    from bilex.bench.inputs import Store
    from bilex.bench.runner import known, to_run

    store = Store(converts=False)
    found = [(cell, known(folder, cell.name), to_run(folder, cell, store)) for cell in cells]
    if as_json:
        options.print_json([{**_plain(cell, there), "to_run": again} for cell, there, again in found])
        return
    told = {True: "yes", False: "no", None: "?"}
    rows = [
        (cell.system.label, cell.direction.name, there.status if there else "-", told[again], cell.rng_seed)
        for cell, there, again in found
    ]
    options.print_table(["system", "direction", "there", "to run", "seed"], rows, left=4, fold=False)
    counts = [sum(again is which for *_, again in found) for which in (True, None)]
    options.say(f"{len(rows)} cells, {sum(there is not None for _, there, _ in found)} in {folder}; {counts[0]} to run")
    if counts[1]:
        options.say(
            f"?: {counts[1]} results are known by their names only: their data are not there, or not converted yet; a "
            "run does these cells again if they were made from other data or settings"
        )


def _print_results(suite: Suite, folder: Path, found: list[tuple[Planned, Cell]], *, as_json: bool) -> None:
    if as_json:
        options.print_json(
            {"suite": suite.name, "folder": str(folder), "cells": [_plain(cell, there) for cell, there in found]}
        )
        return
    places = [name for name in suite.directions if any(cell.direction.name == name for cell, _ in found)]
    labels = dict.fromkeys(system.label for system in suite.systems)
    rows = []
    for label in labels:
        own = [(cell.direction.name, there) for cell, there in found if cell.system.label == label]
        if own:
            rows.append((label, *(_entry([cell for name, cell in own if name == place]) for place in places)))
    options.print_table(["P@1", *places], rows, fold=False)
    options.say(f"results in {folder}; next: bilex bench report {folder}")


def _entry(cells: list[Cell]) -> str:
    """The mean over seeds, and how many of them came to nothing."""
    scores = [cell.scores["p_at_1"] for cell in cells if cell.scores is not None]
    if not scores:
        return cells[0].status if cells else ""
    lost = len(cells) - len(scores)
    return f"{statistics.mean(scores):.2f}" + (f" ({lost} lost)" if lost else "")


def _plain(cell: Planned, there: Cell | None) -> dict[str, Any]:
    scores = there.scores if there is not None else None
    return {
        "name": cell.name,
        "system": cell.system.label,
        "direction": cell.direction.name,
        "rng_seed": cell.rng_seed,
        "status": None if there is None else there.status,
        "error": None if there is None or there.error is None else as_options(there.error),
        "p_at_1": None if scores is None else scores["p_at_1"],
    }
