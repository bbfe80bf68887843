"""The results as a grid of systems and directions, with all random seeds in one spot."""

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
    """The cells of one system on one direction, one per random seed, in the order of the seeds."""

    cells: tuple[Cell, ...] = ()

    @property
    def done(self) -> tuple[Cell, ...]:
        """The cells with scores."""
        return tuple(cell for cell in self.cells if cell.done)

    @property
    def lost(self) -> int:
        """Number of cells without scores: failed, or ended by an error."""
        return len(self.cells) - len(self.done)

    @property
    def complete(self) -> bool:
        """Whether there are cells, and all are done."""
        return bool(self.cells) and not self.lost

    @property
    def words(self) -> str | None:
        """Hash of the test words; None unless it is the same for all seeds."""
        found = {(cell.words_sha256, len(cell.ranks)) for cell in self.done}
        return found.pop()[0] if len(found) == 1 else None

    def values(self, metric: Metric) -> list[float]:
        """The figure of each finished cell."""
        return [value for cell in self.done if (value := metric.of(cell)) is not None]

    def mean(self, metric: Metric) -> float | None:
        """Mean over the finished seeds."""
        values = self.values(metric)
        return statistics.mean(values) if values else None

    def spread(self, metric: Metric) -> float | None:
        """Standard deviation (n - 1) over the finished seeds; None if there is only one."""
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
        """Its cells on a direction."""
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
        """Number of dictionary pairs that it was given; infinity means all."""
        if any(inputs(cell).get("train", {}).get("pairs") == 0 for cell in self.cells):
            return 0
        return math.inf if self.pairs is None else self.pairs

    @property
    def finds_pairs(self) -> bool:
        """Whether its method also trains on pairs that it finds; True for an unknown method."""
        from bilex.methods.base import all_methods

        method = all_methods().get(self.method)
        return method is None or method.finds_pairs

    def mean(self, metric: Metric, directions: Iterable[str]) -> float | None:
        """Mean over directions; None unless all their cells are done."""
        spots = [self.at(direction) for direction in directions]
        means = [spot.mean(metric) for spot in spots]
        known = [mean for mean in means if mean is not None]
        return statistics.mean(known) if len(known) == len(spots) and all(spot.complete for spot in spots) else None


@dataclass(frozen=True)
class Grid:
    """Systems and directions in the order of the suite, with notes and remarks."""

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
    """The inputs of the cell, from its provenance; empty if it has none."""
    found: dict[str, Any] = (cell.provenance or {}).get("inputs") or {}
    return found
