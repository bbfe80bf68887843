"""Decisions of a person about the lexicon, in SQLite: every decision is on disk before it is confirmed."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bilex.errors import ExplorerError, LexiconError
from bilex.io.dictionary import format_line
from bilex.run.decision_file import can_be_written, check_integrity, check_place, check_tables, connect, reading_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bilex.lexicon import Lexicon

Verdict = Literal["open", "accepted", "rejected", "corrected"]
APPLICATION_ID = 0x62696C78
"""SQLite application id in the file header: "bilx"."""
VERSION = 2
"""Version of the file. Files of version 1 can be opened too; there a decision has one target."""
SEPARATOR = "\t"
"""Between several targets in one field; no word of a dictionary contains it."""
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
CURRENT_DECISIONS = """
SELECT id, source, suggestion, verdict, target, note FROM decisions
WHERE id IN (SELECT max(id) FROM decisions WHERE NOT undone GROUP BY source, suggestion) ORDER BY id
"""
MAX_WORD_LENGTH = 200
MAX_NOTE_LENGTH = 2000


class Decision(NamedTuple):
    """The decision on one suggested pair. targets: the right translations, which may be the suggestion, or none."""

    source: str
    suggestion: str
    verdict: Verdict
    targets: tuple[str, ...] = ()
    note: str = ""


class Corrections:
    """All decisions in order. Nothing is overwritten: the latest decision on a pair is valid, unless it is undone.

    With `reading` the file must exist, and may be read-only.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self.path = path
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._seen: int | None = None
        self._now: dict[tuple[str, str], Decision] = {}
        check_place(path)
        if reading and not path.is_file():
            raise ExplorerError(f"{path}: there are no corrections yet; make some with bilex explore RUN")
        frozen = reading and not can_be_written(path)
        with self._reported():
            # Reading has its own connection, so that it need not wait while a write waits for another program.
            self._out, self._file = (connect(path, frozen=frozen) for _ in range(2))
            try:
                self._check_owner()
                check_integrity(self._out, path)
                if not frozen:
                    self._set_up()
                check_tables(self._out, SCHEMA, self.path)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._out.close()

    def decide(
        self,
        source: str,
        suggestion: str,
        verdict: Verdict,
        *,
        target: str | Iterable[str] | None = None,
        note: str | None = None,
    ) -> Decision:
        """Store a decision. Without `note`, or `target` of a correction, the former one stays.

        target: one or several right translations, if the verdict is "corrected".
        """
        before = self.current().get((source, suggestion), Decision(source, suggestion, "open"))
        note = before.note if note is None else note
        if target is None and before.verdict == "corrected":
            target = before.targets
        targets = (target,) if isinstance(target, str) else tuple(dict.fromkeys(target or ()))
        decision = Decision(source, suggestion, verdict, _right(suggestion, verdict, targets), note)
        self.decide_all([decision])
        return decision

    def decide_all(self, decisions: Iterable[Decision]) -> int:
        """Store decisions in one transaction, and say how many."""
        rows = [
            (d.source, d.suggestion, d.verdict, SEPARATOR.join(d.targets) or None, d.note)
            for d in map(checked, decisions)
        ]
        with self._writing, self._reported():
            self._out.execute("BEGIN IMMEDIATE")
            try:
                self._out.executemany(
                    "INSERT INTO decisions (source, suggestion, verdict, target, note) VALUES (?, ?, ?, ?, ?)", rows
                )
            except BaseException:
                self._out.execute("ROLLBACK")
                raise
            self._out.execute("COMMIT")
        return len(rows)

    def undo(self) -> Decision | None:
        """Undo the last decision, so that the one before is valid again. None if there is nothing to undo."""
        with self._writing, self._reported():
            row = self._out.execute(
                "UPDATE decisions SET undone = 1 WHERE id = (SELECT max(id) FROM decisions WHERE NOT undone) "
                "RETURNING id, source, suggestion, verdict, target, note"
            ).fetchone()
        return None if row is None else self._decision(*row)

    def current(self) -> dict[tuple[str, str], Decision]:
        """The valid decisions by source and suggestion; read again if another program has changed the file."""
        with self._lock, self._reported():
            version = self._file.execute("PRAGMA data_version").fetchone()[0]
            if version != self._seen:
                decisions = [self._decision(*row) for row in self._file.execute(CURRENT_DECISIONS)]
                self._now = {(decision.source, decision.suggestion): decision for decision in decisions}
                self._seen = version
            return self._now

    def counts(self) -> dict[str, int]:
        """Number of decisions of each kind."""
        verdicts = [decision.verdict for decision in self.current().values()]
        return {verdict: verdicts.count(verdict) for verdict in ("accepted", "rejected", "corrected")}

    def lexicon(self, train: Lexicon | None = None) -> Lexicon:
        """The pairs of `train` that were not refused, if it is given; then accepted and corrected pairs, each once."""
        from bilex.lexicon import Lexicon

        pairs, refused = self.judged()
        right = Lexicon.from_pairs(pairs)
        if train is None:
            return right
        return Lexicon.from_pairs(pair for pair in train if pair not in refused).union(right)

    def judged(self) -> tuple[list[tuple[str, str]], set[tuple[str, str]]]:
        """The right pairs, each once, and the refused ones: rejected or replaced, and not right in another decision."""
        decisions = self.current()
        right = list(dict.fromkeys((d.source, target) for d in decisions.values() for target in d.targets))
        return right, {pair for pair, d in decisions.items() if d.verdict in ("rejected", "corrected")} - set(right)

    def _decision(self, number: int, *fields: Any) -> Decision:
        """The decision of a row; ExplorerError if `decide` cannot have written it."""
        with reading_row(self.path, number, *fields):
            source, suggestion, verdict, target, note = fields
            targets = () if target is None else tuple(target.split(SEPARATOR))
            decision = checked(Decision(source, suggestion, verdict, targets, note))
            if (not targets) == (verdict in ("accepted", "corrected")):
                raise ValueError(f"it is {verdict}, and its target is {target!r}")
        return decision

    def _check_owner(self) -> None:
        self._out.execute("PRAGMA trusted_schema = OFF")
        owner, version = (
            self._out.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        tables = self._out.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and (owner != APPLICATION_ID or not 1 <= version <= VERSION):
            raise ExplorerError(
                f"{self.path}: this is an SQLite file, but none that this version of bilex explore has made; "
                "name another for the corrections, or update bilex"
            )

    def _set_up(self) -> None:
        """Create the table if it does not exist; a file of an earlier version is upgraded."""
        self._out.execute("PRAGMA journal_mode = WAL")
        self._out.execute("PRAGMA synchronous = FULL")  # decisions survive a power failure
        self._out.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {SCHEMA}")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            raise ExplorerError(
                f"{self.path}: corrections cannot be saved there ({error}); name a file for them in a folder that "
                "can be written to"
            ) from None


def checked(decision: Decision) -> Decision:
    """The decision; LexiconError if a word cannot be in a dictionary, or something is too long."""
    for word in (decision.source, decision.suggestion, *decision.targets):
        if len(word) > MAX_WORD_LENGTH:
            raise LexiconError(f"found a word of {len(word):,} characters; at most {MAX_WORD_LENGTH} can be stored")
        format_line(1, word)
    if len(decision.note) > MAX_NOTE_LENGTH:
        raise LexiconError(
            f"found a note of {len(decision.note):,} characters; at most {MAX_NOTE_LENGTH:,} can be stored"
        )
    return decision


def _right(suggestion: str, verdict: Verdict, targets: tuple[str, ...]) -> tuple[str, ...]:
    if verdict == "corrected":
        if set(targets) <= {suggestion}:
            raise LexiconError("a correction needs another target word than the one suggested")
        return targets
    return (suggestion,) if verdict == "accepted" else ()
