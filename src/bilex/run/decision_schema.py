"""The tables of a file of decisions, and the upgrade of files that earlier versions have made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

APPLICATION_ID = 0x62696C78
"""SQLite application id in the file header: "bilx"."""
VERSION = 3
"""Version of the file. In version 1 a decision has one target. Versions 1 and 2 have no reviewers, marks or steps."""
TABLE_2 = """
CREATE TABLE IF NOT EXISTS decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    made TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    source TEXT NOT NULL,
    suggestion TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('open', 'accepted', 'rejected', 'corrected')),
    target TEXT,
    note TEXT NOT NULL DEFAULT '',
    undone INTEGER NOT NULL DEFAULT 0
)
"""
"""undone: 0, or the number of the undo that took the decision back."""
ADDED_3 = (
    "reviewer TEXT NOT NULL DEFAULT ''",
    "mark TEXT NOT NULL DEFAULT '' CHECK (mark IN ('', 'skipped', 'multiword', 'name'))",
    "step INTEGER NOT NULL DEFAULT 0",
    "merged INTEGER NOT NULL DEFAULT 0",
)
"""step: 0, or a number that decisions made together share. merged: whether it comes from the file of another person."""
INDEX_2 = "CREATE INDEX IF NOT EXISTS decisions_by_pair ON decisions (source, suggestion, undone, id)"
INDEX_3 = "CREATE INDEX IF NOT EXISTS decisions_by_undo ON decisions (undone) WHERE undone"
SCHEMA_2 = f"{TABLE_2}; {INDEX_2};"
ADD_COLUMNS = "".join(f"ALTER TABLE decisions ADD COLUMN {column};" for column in ADDED_3)
SCHEMA = f"{SCHEMA_2} {ADD_COLUMNS} {INDEX_3};"
AS_VERSION_3 = (
    "CREATE TEMP VIEW decisions AS SELECT *, '' AS reviewer, '' AS mark, 0 AS step, 0 AS merged FROM main.decisions"
)
"""A view of a file of an earlier version that cannot be written to."""


def version_of(file: sqlite3.Connection) -> int:
    """The version that the header of the file has; 0 for a new file."""
    version: int = file.execute("PRAGMA user_version").fetchone()[0]
    return version


def set_up(file: sqlite3.Connection) -> None:
    """Create the tables, or upgrade those of an earlier version: all in one transaction, or nothing."""
    file.execute("BEGIN IMMEDIATE")  # another program may have upgraded the file a moment ago
    try:
        is_current = version_of(file) == VERSION
        for statement in f"{SCHEMA_2} {'' if is_current else ADD_COLUMNS} {INDEX_3}".split(";"):
            file.execute(statement)
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        file.execute("ROLLBACK")
        raise
    file.execute("COMMIT")
