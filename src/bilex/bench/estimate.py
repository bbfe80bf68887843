"""How long the cells that are left will take, and how much memory, from those that are done."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bilex.bench.results import Cell, Measured


class Estimate(NamedTuple):
    """Seconds for all cells that are left, and the largest memory of one of them in gigabytes; None if not known."""

    cells: int
    seconds: float | None
    gigabytes: float | None


def estimate(left: Iterable[Measured], done: Iterable[Cell], *, jobs: int) -> Estimate:
    """A cell is expected to take the mean of its system; if that is not known, that of its method, or of all cells."""
    left, timed = list(left), [cell for cell in done if cell.seconds is not None]
    if not timed or not left:
        return Estimate(len(left), None if left else 0.0, _peak(done))
    means = [_by(timed, key) for key in (_system, _method, _any)]
    seconds = sum(
        next(mean[key(task)] for mean, key in zip(means, KEYS, strict=True) if key(task) in mean) for task in left
    )
    return Estimate(len(left), seconds / min(jobs, len(left)), _peak(timed))


def _by(cells: Iterable[Cell], key: Callable[[Measured], str]) -> dict[str, float]:
    """Mean seconds of fit and evaluation."""
    groups: dict[str, list[float]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append((cell.seconds or 0.0) + (cell.seconds_evaluation or 0.0))
    return {name: statistics.mean(seconds) for name, seconds in groups.items()}


def _system(cell: Measured) -> str:
    return cell.system


def _method(cell: Measured) -> str:
    return cell.method


def _any(_: Measured) -> str:
    return ""


KEYS = (_system, _method, _any)


def _peak(cells: Iterable[Cell]) -> float | None:
    return max((cell.peak_gigabytes for cell in cells if cell.peak_gigabytes is not None), default=None)
