"""What a file of decisions has to be: checked before anything in it is used, for it may come from somebody else."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from bilex.errors import ExplorerError, LexiconError
from bilex.run.files import DESCRIPTION
from bilex.storage.disk import file_kind
from bilex.storage.strict_json import check_type
from bilex.storage.symlinks import check_inside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Row(TypedDict):
    """A decision as it stands in the file."""

    source: str
    suggestion: str
    verdict: Literal["open", "accepted", "rejected", "corrected"]
    target: str | None
    note: str


def check_place(path: Path) -> None:
    """Refuse what would be waited for, and in the folder of a run links that leave it: nothing is written there."""
    if (path.parent / DESCRIPTION).exists():
        check_inside(path.parent, [path])
    if path.exists() and (found := file_kind(path)) is not None:
        raise ExplorerError(f"{path}: this is {found}, needed a file; name another for the corrections")


def can_be_written(path: Path) -> bool:
    """Whether SQLite can work there: it writes to the file, and to others beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def connect(path: Path, *, frozen: bool = False) -> sqlite3.Connection:
    """The file opened. Where it is frozen nothing is written, not even beside it."""
    place: Path | str = path
    if frozen:  # what a program at work there has not yet put into the file is read too, if it has left it beside it
        mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
        place = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(place, uri=frozen, check_same_thread=False, isolation_level=None, timeout=10)


def check_tables(file: sqlite3.Connection, schema: str, path: Path) -> None:
    """Refuse other tables and columns than those of the schema, and triggers and views, which would do things."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(schema)
        if _tables(file) != _tables(made):
            raise ExplorerError(
                f"{path}: damaged, its tables are not those that bilex explore makes; put back a copy, or name another "
                "file for the corrections"
            )


@contextmanager
def reading_row(path: Path, number: int, *fields: Any) -> Iterator[None]:
    """Refuse a row whose fields are not those of `Row`, or of which a LexiconError or ValueError is raised inside."""
    try:
        check_type(dict(zip(Row.__annotations__, fields, strict=True)), Row)
        yield
    except (LexiconError, ValueError) as error:
        raise ExplorerError(
            f"{path}: damaged, in row {number} of its decisions: {error}; put back a copy, or delete the row with that "
            "id from the table decisions with sqlite3"
        ) from None


def _tables(file: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
    """All that there is by kind and name, and the columns of the decisions."""
    there = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    return file.execute(there).fetchall(), file.execute("PRAGMA table_xinfo(decisions)").fetchall()
