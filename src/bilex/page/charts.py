"""Charts as values; `plots` draws them."""

from __future__ import annotations

from dataclasses import dataclass

MAX_LINES = 7
"""Most lines in one plot: as many as there are colours that everybody can tell apart."""


@dataclass(frozen=True)
class Line:
    """Points from left to right; lines of one label have one colour."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """A plot of one or several panels, each a title with its lines; `ticks` are names of the places 0, 1, 2 ..."""

    name: str
    title: str
    caption: str
    x_label: str
    y_label: str
    panels: tuple[tuple[str, tuple[Line, ...]], ...]
    log_x: bool = False
    ticks: tuple[str, ...] = ()
    points: bool = False
    """Whether each line is a point that is labelled where it stands."""


def points_of(by_x: dict[float, float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """X and y, from left to right."""
    return tuple(sorted(by_x)), tuple(by_x[x] for x in sorted(by_x))
