"""The trials of a search: which is the best on held-out words, which on the test dictionary, and what that is worth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from bilex.bench.report.metrics import MAIN
from bilex.page.tables import Table, row

if TYPE_CHECKING:
    from bilex.bench.report.grid import Grid, Spot

LABEL = re.compile(r"(.*, )?trial \d+")
"""The label of a trial, as a suite names it."""


class Trial(NamedTuple):
    """P@1 of a trial on held-out words and on test words."""

    label: str
    held_out: float
    test: float


def search_table(grid: Grid) -> Table:
    """A row for each direction with at least two trials."""
    rows = []
    for direction in grid.directions:
        trials = _trials(grid, direction)
        if len(trials) > 1:
            honest, best = max(trials, key=lambda t: t.held_out), max(trials, key=lambda t: t.test)
            shown = (f"{value:.2f}" for value in (honest.held_out, honest.test, best.test, best.test - honest.test))
            first, second, *others = shown
            rows.append(row(direction, len(trials), honest.label, first, second, best.label, *others))
    header = ("direction", "trials", "best held out", "P@1 held out", "P@1", "best on test", "P@1 there", "gain")
    notes = (
        "Held out: the highest P@1 of an epoch on words that were held out of train. A choice by the test dictionary, "
        "as in the authors' program, gains what the last column says; figures that are chosen so are too high.",
    )
    return Table("search", "Trials of a search", header, tuple(rows), notes, left=1)


def _trials(grid: Grid, direction: str) -> list[Trial]:
    systems = [system for system in grid.systems if system.honest and LABEL.fullmatch(system.label)]
    found = [(system.label, _held_out(system.at(direction)), system.at(direction).mean(MAIN)) for system in systems]
    return [Trial(label, dev, test) for label, dev, test in found if dev is not None and test is not None]


def _held_out(spot: Spot) -> float | None:
    """The best P@1 on held-out words of any epoch, a mean over the seeds."""
    bests = []
    for cell in spot.done:
        figures = [figure for record in cell.trace if isinstance(figure := record.get("dev_p_at_1"), float)]
        if figures:
            bests.append(max(figures))
    return sum(bests) / len(bests) if bests else None
