"""Where the time of an alignment went: seconds by part, from timers and from the records of the training."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bilex.training.trace import Record

STAGES = ("contexts", "start", "steps", "refreshes")
"""Parts of a training that its records give the seconds of."""
PARTS = (
    "imports",
    "reading",
    *STAGES,
    "training",
    "other_training",
    "evaluation",
    "second_stage",
    "writing",
    "other",
    "total",
)
_NAMES = {"context": "contexts", "start": "start"}
"""The part of each stage whose record has its seconds."""


class Profile:
    """The parts of an alignment, timed as it runs.

    imports: from the start of the process until the modules are imported; reading: the tables and dictionaries, with
    their checks; contexts, start, steps and refreshes: those of `rapo`, summed over all epochs, trainings and rounds;
    other_training: all else of the training, or `training` if its records name no part; evaluation: on held-out words;
    second_stage: learning to rank and its folds; writing: the run folder.
    """

    def __init__(self, started: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """started: the time of `clock` at the start of the process."""
        self._started, self._clock = started, clock
        self._timed: dict[str, float] = {}
        self._stages: dict[str, float] = {}

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Count the time of the block for this part."""
        begun = self._clock()
        try:
            yield
        finally:
            self._timed[part] = self._timed.get(part, 0.0) + self._clock() - begun

    def imported(self) -> None:
        """Count the time until now for the imports."""
        self._timed["imports"] = self._clock() - self._started

    def listener(self, other: Callable[[Record], None]) -> Callable[[Record], None]:
        """A listener of a trace that passes each record on to `other`."""

        def hear(record: Record) -> None:
            self.hear(record)
            other(record)

        return hear

    def hear(self, record: Record) -> None:
        """Take a record of the training, and count the times that it has."""
        found = {"steps": record.get("train_seconds"), "refreshes": record.get("refresh_seconds")}
        if (part := _NAMES.get(str(record.get("stage")))) is not None:
            found[part] = record.get("seconds")
        for part, seconds in found.items():
            if isinstance(seconds, int | float):
                self._stages[part] = self._stages.get(part, 0.0) + seconds

    def seconds(self) -> dict[str, float]:
        """The seconds of each part until now, in the order of `PARTS`; of all together as `total`."""
        total, timed = self._clock() - self._started, dict(self._timed)
        other = total - sum(timed.values())
        if self._stages:
            timed["other_training"] = max(0.0, timed.pop("training", 0.0) - sum(self._stages.values()))
        found = timed | self._stages | {"other": max(0.0, other), "total": total}
        return {part: found[part] for part in PARTS if part in found}


def table(seconds: dict[str, float]) -> list[str]:
    """The result of `Profile.seconds` as lines: part, seconds, percentage of the total."""
    total = seconds["total"] or 1.0
    rows = [
        (part.replace("_", " "), f"{value:,.1f}", f"{100 * value / total:.0f} %") for part, value in seconds.items()
    ]
    head = ("part", "seconds", "share")
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in (head, *rows)]
