"""P@1 in the paper of RAPO: its main tables and its curves. Of other vectors, on other tables."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTE = (
    "The rows named published are figures of the paper of RAPO (2022). They were measured with other vectors "
    "(fastText, Wikipedia), so that they do not compare with the rows above them."
)


@cache
def published() -> dict[str, dict[str, float]]:
    """The figures of the main tables, by method, named as it is here, and direction."""
    figures: dict[str, dict[str, float]] = {}
    for row in _rows("published.csv"):
        figures.setdefault(row["system"], {})[row["direction"]] = float(row["p_at_1"])
    return figures


@cache
def published_curves() -> dict[str, dict[str, dict[float, float]]]:
    """How RAPO depends on a setting (Figure 3, semi-supervised): by setting, direction, and value."""
    figures: dict[str, dict[str, dict[float, float]]] = {}
    for row in _rows("published_curves.csv"):
        curve = figures.setdefault(row["setting"], {}).setdefault(row["direction"], {})
        curve[float(row["value"])] = float(row["p_at_1"])
    return figures


def _rows(name: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(files("bilex.bench").joinpath(name).read_text(encoding="utf-8").splitlines())
