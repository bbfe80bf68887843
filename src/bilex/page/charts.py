"""Charts as data. `plots` draws them."""

from __future__ import annotations

from dataclasses import dataclass

MAX_LINES = 7
"""Maximum number of lines in one plot, which is the number of colours that everybody can distinguish."""


@dataclass(frozen=True)
class Line:
    """Points from left to right. Lines with the same label have the same colour."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """A plot of one or more panels, each with a title and lines. ticks: labels of the x values 0, 1, 2 ..."""

    name: str
    title: str
    caption: str
    x_label: str
    y_label: str
    panels: tuple[tuple[str, tuple[Line, ...]], ...]
    log_x: bool = False
    ticks: tuple[str, ...] = ()
    points: bool = False
    """Whether each line is a single labelled point."""


def points_of(by_x: dict[float, float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Values of x, sorted, and their values of y."""
    return tuple(sorted(by_x)), tuple(by_x[x] for x in sorted(by_x))
