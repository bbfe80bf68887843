"""What a person has decided about the lexicon, kept in SQLite: every decision is on disk before it is confirmed."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bilex.errors import ExplorerError, LexiconError
from bilex.explorer.decision_file import check_place, check_tables, reading_row
from bilex.io.dictionary import written_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.lexicon import Lexicon

Verdict = Literal["open", "accepted", "rejected", "corrected"]
APPLICATION = 0x62696C78
"""Says in the file's header whose it is: "bilx"."""
VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    made TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    source TEXT NOT NULL,
    suggestion TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('open', 'accepted', 'rejected', 'corrected')),
    target TEXT,
    note TEXT NOT NULL DEFAULT '',
    undone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS decisions_by_pair ON decisions (source, suggestion, undone, id);
"""
LAST = """
SELECT id, source, suggestion, verdict, target, note FROM decisions
WHERE id IN (SELECT max(id) FROM decisions WHERE NOT undone GROUP BY source, suggestion) ORDER BY id
"""
LONGEST = 200
LONGEST_NOTE = 2000


class Decision(NamedTuple):
    """On one suggested pair. `target` is the right translation: the suggestion itself, another word, or none."""

    source: str
    suggestion: str
    verdict: Verdict
    target: str | None = None
    note: str = ""


class Corrections:
    """Decisions in the order they were made. Nothing is overwritten: a later one counts, an undone one does not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._seen: int | None = None
        self._now: dict[tuple[str, str], Decision] = {}
        check_place(path)
        with self._reported():
            # Who reads has a connection of its own, and need not wait while a decision waits for another program.
            self._out, self._file = (
                sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10) for _ in range(2)
            )
            try:
                self._set_up()
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._out.close()

    def decide(
        self, source: str, suggestion: str, verdict: Verdict, *, target: str | None = None, note: str | None = None
    ) -> Decision:
        """Keep a decision; without a note the one there is stays."""
        before = self.current().get((source, suggestion))
        note = note if note is not None else before.note if before else ""
        decision = checked(Decision(source, suggestion, verdict, _right(suggestion, verdict, target), note))
        with self._writing, self._reported():
            self._out.execute(
                "INSERT INTO decisions (source, suggestion, verdict, target, note) VALUES (?, ?, ?, ?, ?)", decision
            )
        return decision

    def undo(self) -> Decision | None:
        """Take back the last decision; what was before it counts again. None if there is nothing to take back."""
        with self._writing, self._reported():
            found = self._out.execute(
                "UPDATE decisions SET undone = 1 WHERE id = (SELECT max(id) FROM decisions WHERE NOT undone) "
                "RETURNING id, source, suggestion, verdict, target, note"
            ).fetchone()
        return None if found is None else self._decision(*found)

    def current(self) -> dict[tuple[str, str], Decision]:
        """What counts now, by source and suggestion; read again when another program has changed the file."""
        with self._lock, self._reported():
            version = self._file.execute("PRAGMA data_version").fetchone()[0]
            if version != self._seen:
                decisions = [self._decision(*row) for row in self._file.execute(LAST)]
                self._now = {(decision.source, decision.suggestion): decision for decision in decisions}
                self._seen = version
            return self._now

    def counts(self) -> dict[str, int]:
        """How many decisions there are of each kind."""
        verdicts = [decision.verdict for decision in self.current().values()]
        return {verdict: verdicts.count(verdict) for verdict in ("accepted", "rejected", "corrected")}

    def lexicon(self, train: Lexicon | None = None) -> Lexicon:
        """Accepted and corrected pairs, each once; after those of `train` that were not refused, if that is given."""
        from bilex.lexicon import Lexicon

        pairs, refused = self.judged()
        right = Lexicon.from_pairs(pairs)
        if train is None:
            return right
        return Lexicon.from_pairs(pair for pair in train if pair not in refused).union(right)

    def judged(self) -> tuple[list[tuple[str, str]], set[tuple[str, str]]]:
        """The right pairs, each once, and those that were rejected or replaced and are not right after all."""
        decisions = self.current()
        right = list(dict.fromkeys((d.source, d.target) for d in decisions.values() if d.target))
        return right, {pair for pair, d in decisions.items() if d.verdict in ("rejected", "corrected")} - set(right)

    def _decision(self, number: int, *fields: Any) -> Decision:
        """A row, if it is one that `decide` could have written."""
        with reading_row(self.path, number, *fields):
            decision = checked(Decision(*fields))
            if (decision.target is None) == (decision.verdict in ("accepted", "corrected")):
                raise ValueError(f"it is {decision.verdict}, and its target is {decision.target!r}")
        return decision

    def _set_up(self) -> None:
        owner, version = (
            self._out.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        tables = self._out.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and (owner != APPLICATION or version != VERSION):
            raise ExplorerError(
                f"{self.path}: this is an SQLite file, but none that this version of bilex explore has made; "
                "name another for the corrections, or update bilex"
            )
        self._out.execute("PRAGMA trusted_schema = OFF")
        self._out.execute("PRAGMA journal_mode = WAL")
        self._out.execute("PRAGMA synchronous = FULL")  # a decision outlives even a power cut
        self._out.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {SCHEMA}")
        check_tables(self._out, SCHEMA, self.path)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            raise ExplorerError(
                f"{self.path}: corrections cannot be kept there ({error}); name a file for them in a folder that "
                "can be written to"
            ) from None


def checked(decision: Decision) -> Decision:
    """The decision, if its words can stand in a dictionary and nothing is too long."""
    words = [decision.source, decision.suggestion, *([decision.target] if decision.target is not None else [])]
    for word in words:
        if len(word) > LONGEST:
            raise LexiconError(f"found a word of {len(word):,} characters; at most {LONGEST} are kept")
        written_line(1, word)
    if len(decision.note) > LONGEST_NOTE:
        raise LexiconError(f"found a note of {len(decision.note):,} characters; at most {LONGEST_NOTE:,} are kept")
    return decision


def _right(suggestion: str, verdict: Verdict, target: str | None) -> str | None:
    if verdict == "corrected":
        if target is None or target == suggestion:
            raise LexiconError("a correction needs another target word than the one suggested")
        return target
    return suggestion if verdict == "accepted" else None
