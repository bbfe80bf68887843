"""Results put in order: systems by directions, all random seeds of one system on one direction together."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.errors import ResultsError
from bilex.text.suggest import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bilex.bench.report.metrics import Metric
    from bilex.bench.results import Cell


@dataclass(frozen=True)
class Spot:
    """The cells of one system on one direction, one for each random seed, in order of these."""

    cells: tuple[Cell, ...] = ()

    @property
    def done(self) -> tuple[Cell, ...]:
        """Those with scores."""
        return tuple(cell for cell in self.cells if cell.done)

    @property
    def lost(self) -> int:
        """How many have no scores: failed, or ended by an error."""
        return len(self.cells) - len(self.done)

    @property
    def complete(self) -> bool:
        """Whether there are cells, and all are done."""
        return bool(self.cells) and not self.lost

    @property
    def words(self) -> str | None:
        """Hash of the test words, if there is one, and the same for all seeds."""
        found = {(cell.words_sha256, len(cell.ranks)) for cell in self.done}
        return found.pop()[0] if len(found) == 1 else None

    def values(self, metric: Metric) -> list[float]:
        """The figure of each cell that is done."""
        return [value for cell in self.done if (value := metric.of(cell)) is not None]

    def mean(self, metric: Metric) -> float | None:
        """Over the seeds that are done."""
        values = self.values(metric)
        return statistics.mean(values) if values else None

    def spread(self, metric: Metric) -> float | None:
        """Standard deviation (n - 1) over the seeds that are done, if they are several."""
        values = self.values(metric)
        return statistics.stdev(values) if len(values) > 1 else None

    def right(self) -> NDArray[np.float64]:
        """For each test word, the share of the seeds whose best candidate is right."""
        share: NDArray[np.float64] = (np.array([cell.ranks for cell in self.done]) == 1).mean(axis=0)
        return share


@dataclass(frozen=True)
class System:
    """A row of the tables."""

    label: str
    method: str
    settings: dict[str, str]
    pairs: int | None
    protocol: str
    spots: dict[str, Spot]

    def at(self, direction: str) -> Spot:
        """What there is of it on a direction."""
        return self.spots.get(direction, Spot())

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All of them."""
        return tuple(cell for spot in self.spots.values() for cell in spot.cells)

    @property
    def honest(self) -> bool:
        """Whether its choices were made without the test dictionary."""
        return self.protocol == "honest"

    @property
    def given(self) -> float:
        """How many pairs of the dictionary it was given; infinity stands for all of them."""
        if any(inputs(cell).get("train", {}).get("pairs") == 0 for cell in self.cells):
            return 0
        return math.inf if self.pairs is None else self.pairs

    @property
    def finds_pairs(self) -> bool:
        """Whether its method also learns from pairs that it finds itself; one that is not known here may."""
        from bilex.methods.base import all_methods

        method = all_methods().get(self.method)
        return method is None or method.finds_pairs

    def mean(self, metric: Metric, directions: Iterable[str]) -> float | None:
        """Mean over directions; none unless all cells of all of them are done."""
        spots = [self.at(direction) for direction in directions]
        means = [spot.mean(metric) for spot in spots]
        known = [mean for mean in means if mean is not None]
        return statistics.mean(known) if len(known) == len(spots) and all(spot.complete for spot in spots) else None


@dataclass(frozen=True)
class Grid:
    """Systems and directions in the order of the suite, and what a reader should know of them."""

    name: str
    title: str
    notes: tuple[str, ...]
    systems: tuple[System, ...]
    directions: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All of them."""
        return tuple(cell for system in self.systems for cell in system.cells)

    def system(self, label: str) -> System:
        """The system of that label."""
        for system in self.systems:
            if system.label == label:
                return system
        known = [system.label for system in self.systems]
        raise ResultsError(
            f"there is no system {label!r} in these results{suggestion(label, known)}; systems: {'; '.join(known)}"
        )


def inputs(cell: Cell) -> dict[str, Any]:
    """What the cell was made from, as far as it says so."""
    found: dict[str, Any] = (cell.provenance or {}).get("inputs") or {}
    return found
