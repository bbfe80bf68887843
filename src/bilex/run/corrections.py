"""What a person has decided about the lexicon, kept in SQLite: every decision is on disk before it is confirmed."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bilex.errors import ExplorerError, LexiconError
from bilex.io.dictionary import format_line
from bilex.run.decision_file import can_be_written, check_place, check_tables, connect, reading_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bilex.lexicon import Lexicon

Verdict = Literal["open", "accepted", "rejected", "corrected"]
APPLICATION = 0x62696C78
"""Says in the file's header whose it is: "bilx"."""
VERSION = 2
"""Of the file. In those of version 1, which are opened too, a decision had one target."""
BETWEEN = "\t"
"""Between several targets in one field: no word of a dictionary has it."""
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
    """On one suggested pair. `targets` are the right translations: the suggestion itself, other words, or none."""

    source: str
    suggestion: str
    verdict: Verdict
    targets: tuple[str, ...] = ()
    note: str = ""


class Corrections:
    """Decisions in the order they were made. Nothing is overwritten: a later one counts, an undone one does not.

    With `reading` the file has to exist, and may lie where nothing can be written.
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
            # Who reads has a connection of its own, and need not wait while a decision waits for another program.
            self._out, self._file = (connect(path, frozen=frozen) for _ in range(2))
            try:
                self._check_owner()
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
        """Keep a decision; without a note, or a target of a correction, the one there is stays.

        target: the right translation, or several, where the verdict is that the suggestion is corrected.
        """
        before = self.current().get((source, suggestion), Decision(source, suggestion, "open"))
        note = before.note if note is None else note
        if target is None and before.verdict == "corrected":
            target = before.targets
        targets = (target,) if isinstance(target, str) else tuple(dict.fromkeys(target or ()))
        decision = checked(Decision(source, suggestion, verdict, _right(suggestion, verdict, targets), note))
        field = BETWEEN.join(decision.targets) or None
        with self._writing, self._reported():
            self._out.execute(
                "INSERT INTO decisions (source, suggestion, verdict, target, note) VALUES (?, ?, ?, ?, ?)",
                (source, suggestion, verdict, field, note),
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
        right = list(dict.fromkeys((d.source, target) for d in decisions.values() for target in d.targets))
        return right, {pair for pair, d in decisions.items() if d.verdict in ("rejected", "corrected")} - set(right)

    def _decision(self, number: int, *fields: Any) -> Decision:
        """A row, if it is one that `decide` could have written."""
        with reading_row(self.path, number, *fields):
            source, suggestion, verdict, target, note = fields
            targets = () if target is None else tuple(target.split(BETWEEN))
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
        if tables and (owner != APPLICATION or not 1 <= version <= VERSION):
            raise ExplorerError(
                f"{self.path}: this is an SQLite file, but none that this version of bilex explore has made; "
                "name another for the corrections, or update bilex"
            )

    def _set_up(self) -> None:
        """Make the table, if it is not there; a file of an earlier version becomes one of this."""
        self._out.execute("PRAGMA journal_mode = WAL")
        self._out.execute("PRAGMA synchronous = FULL")  # a decision outlives even a power cut
        self._out.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {SCHEMA}")

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
    for word in (decision.source, decision.suggestion, *decision.targets):
        if len(word) > LONGEST:
            raise LexiconError(f"found a word of {len(word):,} characters; at most {LONGEST} are kept")
        format_line(1, word)
    if len(decision.note) > LONGEST_NOTE:
        raise LexiconError(f"found a note of {len(decision.note):,} characters; at most {LONGEST_NOTE:,} are kept")
    return decision


def _right(suggestion: str, verdict: Verdict, targets: tuple[str, ...]) -> tuple[str, ...]:
    if verdict == "corrected":
        if set(targets) <= {suggestion}:
            raise LexiconError("a correction needs another target word than the one suggested")
        return targets
    return (suggestion,) if verdict == "accepted" else ()
