"""P@1 from the RAPO paper: its main tables and its curves, measured with the vectors of MUSE."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from bilex.bench.report.grid import inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.bench.report.grid import Grid

VECTORS = "muse "
"""Prefix of the labels of tables with the vectors of the paper."""
_NOTE = "The rows named published are figures of the RAPO paper (2022). They were measured with "
OTHER_NOTE = _NOTE + "other vectors (fastText, Wikipedia), so they cannot be compared with the rows above them."
SAME_NOTE = _NOTE + "the same vectors (fastText, Wikipedia), the 200,000 most frequent words of each language."


def same_vectors(grid: Grid) -> bool:
    """Whether all results use the vectors of the paper."""
    found = [inputs(cell) for cell in grid.cells if inputs(cell)]
    files = [str((each.get(side) or {}).get("file")) for each in found for side in ("source", "target")]
    return bool(files) and all(file.startswith(VECTORS) for file in files)


@cache
def published() -> dict[str, dict[str, float]]:
    """The figures of the main tables, by the name of the method in bilex, and by direction."""
    figures: dict[str, dict[str, float]] = {}
    for row in _rows("published.csv"):
        figures.setdefault(row["system"], {})[row["direction"]] = float(row["p_at_1"])
    return figures


@cache
def published_curves() -> dict[str, dict[str, dict[float, float]]]:
    """P@1 of RAPO by setting, direction and value (Figure 3, semi-supervised)."""
    figures: dict[str, dict[str, dict[float, float]]] = {}
    for row in _rows("published_curves.csv"):
        curve = figures.setdefault(row["setting"], {}).setdefault(row["direction"], {})
        curve[float(row["value"])] = float(row["p_at_1"])
    return figures


def _rows(name: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(files("bilex.bench").joinpath(name).read_text(encoding="utf-8").splitlines())
