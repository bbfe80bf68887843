"""P@1 in the main tables of the paper of RAPO, by method and direction: of other vectors, on other tables."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

NOTE = (
    "The rows named published are figures of the paper of RAPO (2022). They were measured with other vectors "
    "(fastText, Wikipedia), so that they do not compare with the rows above them."
)


@cache
def published() -> dict[str, dict[str, float]]:
    """The figures; a method is named as it is here."""
    figures: dict[str, dict[str, float]] = {}
    text = files("bilex.bench").joinpath("published.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        figures.setdefault(row["system"], {})[row["direction"]] = float(row["p_at_1"])
    return figures
