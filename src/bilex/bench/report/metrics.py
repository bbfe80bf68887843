"""The figures of a cell that tables can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bilex.bench.results import Cell


@dataclass(frozen=True)
class Metric:
    """A figure: its name in the results, its heading, its description, and the number of digits."""

    name: str
    heading: str
    about: str
    digits: int = 2
    ranked: bool = True
    """Whether the highest value is the best."""

    def of(self, cell: Cell) -> float | None:
        """The figure of a finished cell."""
        value = (cell.scores or {}).get(self.name, getattr(cell, self.name, None))
        return None if value is None else float(value)

    def show(self, value: float) -> str:
        """A figure as text."""
        return f"{value:.{self.digits}f}"


COVERED, ALL = "over the covered source words", "over all source words; those that are not covered count as not found"
METRICS = {
    metric.name: metric
    for metric in (
        Metric("p_at_1", "P@1", COVERED),
        Metric("p_at_5", "P@5", COVERED),
        Metric("p_at_10", "P@10", COVERED),
        Metric("mrr", "MRR", COVERED, digits=3),
        Metric("p_at_1_all", "P@1, all", ALL),
        Metric("p_at_5_all", "P@5, all", ALL),
        Metric("p_at_10_all", "P@10, all", ALL),
        Metric("mrr_all", "MRR, all", ALL, digits=3),
        Metric("coverage", "coverage", "percentage of the source words that are covered", digits=1, ranked=False),
        Metric("seconds", "seconds", "of the training, without the evaluation", digits=1, ranked=False),
        Metric("peak_gigabytes", "GB", "peak memory of the process", digits=2, ranked=False),
    )
}
MAIN = METRICS["p_at_1"]
