"""Checks of a file of decisions before it is used, since it may come from somebody else."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from bilex.errors import ExplorerError, LexiconError
from bilex.run.decision import Decision, Mark, Verdict, checked
from bilex.run.files import DESCRIPTION
from bilex.storage.disk import file_kind
from bilex.storage.strict_json import check_type
from bilex.storage.symlinks import check_inside

if TYPE_CHECKING:
    from pathlib import Path

SEPARATOR = "\t"
"""Between several targets in one field; no word of a dictionary contains it."""

_BAD_VALUE = re.compile(r"\w+ value in |CHECK constraint failed")
"""What SQLite says of a value that the columns do not allow."""


class Row(TypedDict):
    """A decision as a row of the file."""

    source: str
    suggestion: str
    verdict: Verdict
    target: str | None
    note: str
    mark: Mark
    reviewer: str
    made: str
    merged: Literal[0, 1]


def check_place(path: Path) -> None:
    """Refuse pipes and devices, and in a run folder links that lead out of it."""
    if (path.parent / DESCRIPTION).exists():
        check_inside(path.parent, [path])
    if path.exists() and (found := file_kind(path)) is not None:
        raise ExplorerError(f"{path}: this is {found}, needed a file; name another for the corrections")


def can_be_written(path: Path) -> bool:
    """Whether SQLite can write to the file and to the folder, where it has further files."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def connect(path: Path, *, frozen: bool = False) -> sqlite3.Connection:
    """Open the file. With `frozen` nothing is written, neither to the file nor to the folder."""
    place: Path | str = path
    if frozen:  # if another program has unsaved decisions in a write-ahead log, these are read too
        mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
        place = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(place, uri=frozen, check_same_thread=False, isolation_level=None, timeout=10)


def check_integrity(file: sqlite3.Connection, path: Path) -> None:
    """Refuse damaged pages, and an index that does not match its table: decisions would be lost without notice.

    Values of another type are left to `read_decision`, which names the row.
    """
    found = [str(message) for (message,) in file.execute("PRAGMA integrity_check")]
    damage = [message for message in found if message != "ok" and not _BAD_VALUE.match(message)]
    if damage:
        raise ExplorerError(
            f"{path}: damaged ({damage[0].splitlines()[-1]}); put back a copy, or name another file for the corrections"
        )


def check_tables(file: sqlite3.Connection, schema: str, path: Path) -> None:
    """Refuse tables and columns that are not in the schema, and triggers and views, which could run code."""
    with closing(sqlite3.connect(":memory:")) as expected:
        expected.executescript(schema)
        if _tables(file) != _tables(expected):
            raise ExplorerError(
                f"{path}: damaged, its tables are not those that bilex explore makes; put back a copy, or name another "
                "file for the corrections"
            )


def read_decision(path: Path, number: int, *fields: Any) -> Decision:
    """The decision of a row, with the fields of `Row`. ExplorerError if `decide` cannot have written it."""
    try:
        row: Row = dict(zip(Row.__annotations__, fields, strict=True))  # type: ignore[assignment]
        check_type(row, Row)
        target = row["target"]
        targets = () if target is None else tuple(target.split(SEPARATOR))
        decision = checked(
            Decision(
                row["source"],
                row["suggestion"],
                row["verdict"],
                targets,
                row["note"],
                row["mark"],
                row["reviewer"],
                row["made"],
                bool(row["merged"]),
            )
        )
        if (not targets) == (decision.verdict in ("accepted", "corrected")):
            raise ValueError(f"it is {decision.verdict}, and its target is {target!r}")
    except (LexiconError, ValueError) as error:
        raise ExplorerError(
            f"{path}: damaged, in row {number} of its decisions: {error}; put back a copy, or delete the row with that "
            "id from the table decisions with sqlite3"
        ) from None
    return decision


def _tables(file: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
    """Type and name of all objects of the schema, and the columns of the decisions."""
    objects = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    return file.execute(objects).fetchall(), file.execute("PRAGMA main.table_xinfo(decisions)").fetchall()
