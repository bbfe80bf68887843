"""The tables of a report."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from bilex.bench.report.comparison import LEVELS, NOTE
from bilex.bench.report.grid import inputs
from bilex.bench.report.metrics import MAIN
from bilex.page.tables import EMPTY, Entry, Row, Table, row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bilex.bench.report.comparison import Comparison
    from bilex.bench.report.grid import Grid


def cost_table(grid: Grid) -> Table:
    """Time and memory of each system, over all its finished cells."""
    rows = []
    for system in grid.systems:
        done = [cell for cell in system.cells if cell.done]
        seconds, evaluation, memory = (
            [float(value) for cell in done if (value := getattr(cell, name)) is not None]
            for name in ("seconds", "seconds_evaluation", "peak_gigabytes")
        )
        threads = ", ".join(str(count) for count in sorted({cell.threads for cell in done if cell.threads}))
        figures = (_figure(statistics.mean, seconds), _figure(max, seconds), _figure(statistics.mean, evaluation))
        rows.append(row(system.label, *figures, _figure(max, memory, 2), threads or EMPTY))
    header = ("system", "seconds, mean", "longest", "evaluation", "peak GB", "threads")
    note = (
        "Wall-clock seconds of the training and of the evaluation; they are longer if the machine ran other programs."
    )
    return Table("cost", "Time and memory", header, tuple(rows), (note,))


def data_table(grid: Grid) -> Table:
    """The tables and dictionaries of each direction."""
    rows = []
    for direction in grid.directions:
        cells = [cell for cell in grid.cells if cell.direction == direction and cell.done]
        made_from = [found for cell in cells if (found := inputs(cell))]
        scores = [cell.scores or {} for cell in cells]
        tables = [_most(found.get(side, {}).get("words") for found in made_from) for side in ("source", "target")]
        dim = _most(found.get("source", {}).get("dim") for found in made_from)
        train = _most(found.get("train", {}).get("pairs") for found in made_from)
        words = [_most(found.get(key) for found in scores) for key in ("sources", "covered")]
        coverage = [float(found["coverage"]) for found in scores if found.get("coverage") is not None]
        rows.append(row(direction, *tables, dim, train, *words, _figure(max, coverage)))
    header = ("direction", "source table", "target table", "dim", "train pairs", "test sources", "covered", "%")
    note = "Words in the tables, the most pairs of the train dictionary that any system was given, source words of the "
    note += "test dictionary, and those of them that the tables cover."
    return Table("data", "Tables and dictionaries", header, tuple(rows), (note,))


def comparison_table(comparisons: Sequence[Comparison], name: str, title: str) -> Table:
    """Comparisons, one per row."""
    several = any(len(comparison.tests) > 1 for comparison in comparisons)
    rows = [_comparison(comparison, several=several) for comparison in comparisons]
    header = ["system", "against", "direction", "P@1", "P@1, other", "difference", "95 % interval", "words won : lost"]
    header += ["p", "p, Holm", *(["seeds p < 0.01"] if several else [])]
    return Table(name, title, tuple(header), tuple(rows), (NOTE,), left=3)


def failure_table(grid: Grid) -> Table:
    """Cells without scores, and the reasons."""
    rows = []
    for system in grid.systems:
        for direction, spot in system.spots.items():
            if spot.lost:
                counts = [sum(cell.status == status for cell in spot.cells) for status in ("failed", "error")]
                reasons = dict.fromkeys(cell.error or "no reason given" for cell in spot.cells if not cell.done)
                rows.append(row(system.label, direction, " / ".join(reasons), *counts, len(spot.cells)))
    header = ("system", "direction", "reason", "failed", "errors", "of seeds")
    note = "failed: the method rejected its own result or did not converge; errors: anything else."
    return Table("failures", "Runs without a result", header, tuple(rows), (note,), left=3)


def _comparison(comparison: Comparison, *, several: bool) -> Row:
    first, second = (MAIN.show(value) for value in comparison.p_at_1)
    failed = f" ({comparison.lost} lost)" if comparison.lost else ""
    digits = 1 if len(comparison.tests) > 1 else 0
    of_seeds = sum(test.p_value < LEVELS[0][0] for test in comparison.tests.values())
    return row(
        comparison.first,
        comparison.second,
        comparison.direction,
        first + failed,
        second,
        Entry(f"{comparison.difference:+.2f}", mark=comparison.mark),
        f"{comparison.low:+.2f} to {comparison.high:+.2f}",
        f"{comparison.wins:.{digits}f} : {comparison.losses:.{digits}f}",
        show_p(comparison.p_value),
        show_p(comparison.p_holm),
        *([f"{of_seeds} of {len(comparison.tests)}"] if several else []),
    )


def show_p(p_value: float) -> str:
    """A p-value as text, rounded."""
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:.2g}" if p_value < 0.1 else f"{p_value:.2f}"


def _figure(function: Any, values: list[float], digits: int = 1) -> str:
    return f"{function(values):.{digits}f}" if values else EMPTY


def _most(values: Iterable[int | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):,}" if known else EMPTY
