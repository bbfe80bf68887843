"""The task of a cell, as JSON for its process on this machine or on another one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.bench.inputs import Ready
from bilex.bench.results import Cell, Measured
from bilex.storage.strict_json import from_json, to_json

if TYPE_CHECKING:
    from bilex.bench.inputs import Store
    from bilex.bench.suite import Planned

SIDES = ("source", "target", "train", "test")


@dataclass(frozen=True, kw_only=True)
class Task(Measured):
    """A cell with the files that it reads. `train` is None for a method that trains without a dictionary."""

    name: str
    threads: int
    device: str
    source: Ready
    target: Ready
    train: Ready | None
    test: Ready

    @classmethod
    def make(cls, cell: Planned, store: Store, *, threads: int, device: str) -> Task:
        """The task of a cell. The store prepares its input files."""
        system, direction = cell.system, cell.direction
        method = system.make()
        train = direction.train if method.needs_pairs else None
        task = cls(
            name=cell.name,
            suite=cell.suite,
            system=system.label,
            method=method.name,
            settings=system.settings,
            direction=direction.name,
            rng_seed=cell.rng_seed,
            pairs=system.pairs,
            protocol=system.protocol,
            key="",
            threads=threads,
            device=device,
            source=store.prepare(direction.source),
            target=store.prepare(direction.target),
            train=None if train is None else store.prepare(train),
            test=store.prepare(direction.test),
        )
        return replace(task, key=_key(task, method.describe(first_names=True)))

    def files(self) -> dict[str, Ready]:
        """The files that it reads, by side."""
        found = {side: getattr(self, side) for side in SIDES}
        return {side: ready for side, ready in found.items() if ready is not None}

    def with_files(self, paths: dict[str, Path]) -> Task:
        """The same task with other paths of its files."""
        return replace(self, **{side: replace(ready, path=paths[side]) for side, ready in self.files().items()})  # type: ignore[arg-type]

    def to_json(self) -> str:
        """The task as one line of JSON."""
        files = {side: {**asdict(ready), "path": str(ready.path)} for side, ready in self.files().items()}
        return to_json({**asdict(self), **files})

    @classmethod
    def from_json(cls, text: str) -> Task:
        """The inverse of `to_json`."""
        found = from_json(text)
        ready = {side: found[side] and Ready(**{**found[side], "path": Path(found[side]["path"])}) for side in SIDES}
        return cls(**{**found, **ready})

    def result(self, status: str, error: str | None, **found: Any) -> Cell:
        """A result of this task; fields that are not given are empty."""
        empty: dict[str, Any] = {
            "scores": None,
            "ranks": (),
            "rows": (),
            "words_sha256": None,
            "seconds": None,
            "seconds_evaluation": None,
            "peak_gigabytes": None,
            "trace": (),
            "provenance": None,
        }
        own = {field.name: getattr(self, field.name) for field in fields(Measured)} | {"threads": self.threads}
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        return Cell(status=status, error=self._without_paths(error), made_at=made_at, **{**empty, **own, **found})

    def labelled(self, cell: Cell) -> Cell:
        """A result of this task or of one with the same key, under the label of this task."""
        return replace(cell, **{field.name: getattr(self, field.name) for field in fields(Measured)})

    def _without_paths(self, message: str | None) -> str | None:
        """A message with the labels of files for their paths. Results are shared, but paths are of this machine."""
        for ready in self.files().values():
            message = message and message.replace(str(ready.path), ready.label)
        return message


def _key(task: Task, settings: dict[str, Any]) -> str:
    """Hash of everything that decides the result; paths, threads and the version of bilex do not count.

    Settings are hashed by their first names, so that a result remains valid after a setting has been renamed.
    """
    parts = {
        "method": task.method,
        "settings": settings,
        "files": {side: (ready.sha256, ready.max_words) for side, ready in task.files().items()},
        "rng_seed": task.rng_seed,
        "pairs": task.pairs,
        "protocol": task.protocol,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
