"""The results of a suite: one JSON file for each cell, that is one system on one direction with one random seed.

FOLDER/suite.json         the description of the suite
FOLDER/cells/NAME.json    a result; the fields are those of `Cell`
FOLDER/partial/NAME/      checkpoints and log of an unfinished cell
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.errors import ResultsError
from bilex.storage.disk import describe_os_error
from bilex.storage.files import atomic_write
from bilex.storage.strict_json import read_json, to_json

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Cell", "ResultsError", "read", "read_cell", "read_suite", "write_cell"]

FORMAT = {"format": "bilex-cell", "version": 1}
STATUSES = ("done", "failed", "error")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured: the fields that a task and its result share."""

    suite: str
    system: str
    method: str
    settings: dict[str, str]
    direction: str
    rng_seed: int
    pairs: int | None
    """Number of pairs of the train dictionary that were used; None means all."""
    protocol: str
    """`honest`; or `paper`, where choices were made on the test dictionary."""
    key: str
    """Hash of everything that decides the result, such as all settings and the contents of the files."""


@dataclass(frozen=True, kw_only=True)
class Cell(Measured):
    """One result. `failed`: the method refused or did not converge; `error`: anything else."""

    status: str
    error: str | None
    scores: dict[str, Any] | None
    """The result of `Evaluation.to_json`."""
    ranks: tuple[int, ...]
    """Rank of the best gold target of each covered source of the test dictionary, in its order."""
    rows: tuple[int, ...]
    """Row of each of these sources in the source table."""
    words_sha256: str | None
    """Hash of these sources; two results with the same hash can be compared word by word."""
    seconds: float | None
    """Seconds of the fit; None if it was interrupted and continued."""
    seconds_evaluation: float | None
    peak_gigabytes: float | None
    threads: int | None
    trace: tuple[dict[str, Any], ...]
    provenance: dict[str, Any] | None
    made_at: str

    @property
    def done(self) -> bool:
        """Whether it has scores."""
        return self.status == "done"

    def to_json(self) -> dict[str, Any]:
        """The contents of its file."""
        return {**FORMAT, **asdict(self)}


def read(folder: str | PathLike[str]) -> list[Cell]:
    """All results in a folder, in order of their file names."""
    place = Path(folder) / "cells"
    if not place.is_dir():
        raise ResultsError(f"{folder}: this is not a folder of results (no cells/); make one with bilex bench run")
    found = [read_cell(path) for path in sorted(place.glob("*.json"))]
    if not found:
        raise ResultsError(f"{place}: there are no results yet; make some with bilex bench run")
    return found


def read_cell(path: Path) -> Cell:
    """One result."""
    found = _read_json(path)
    if any(found.get(name) != value for name, value in FORMAT.items()):
        raise ResultsError(f"{path}: not a result that this version of bilex can read; update bilex, or remove it")
    return cell_from_json(found, path)


def cell_from_json(found: dict[str, Any], path: Path) -> Cell:
    """A result from the contents of its file; `path` is for messages."""
    if missing := [field.name for field in fields(Cell) if field.name not in found]:
        raise ResultsError(f"{path}: damaged, it has no {', '.join(missing)}; remove it and run the suite again")
    if found["status"] not in STATUSES:
        raise ResultsError(f"{path}: status is {found['status']!r}; needed one of {', '.join(STATUSES)}")
    if found["status"] == "done" and not isinstance(found["scores"], dict):
        raise ResultsError(
            f"{path}: damaged, it has no scores although its status is done; remove it and run the suite again"
        )
    known = {field.name: found[field.name] for field in fields(Cell)}
    return Cell(**{**known, **{name: tuple(known[name] or ()) for name in ("ranks", "rows", "trace")}})


def write_cell(path: Path, cell: Cell) -> None:
    """Write one result atomically."""
    write_json(path, cell.to_json())


def read_suite(folder: str | PathLike[str]) -> dict[str, Any]:
    """The description of the suite: name, title, notes, systems and directions in order."""
    path = Path(folder) / "suite.json"
    if not path.is_file():
        raise ResultsError(f"{folder}: this is not a folder of results (no suite.json); make one with bilex bench run")
    return _read_json(path)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file atomically, with one line per key."""
    lines = ",\n".join(f" {to_json(key)}: {to_json(item)}" for key, item in value.items())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as temporary:
            temporary.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {describe_os_error(error, 'choose another folder')}") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and run the suite again") from error
    if not isinstance(found, dict):
        raise ResultsError(f"{path}: damaged, it is not a JSON object; remove it and run the suite again")
    return found
