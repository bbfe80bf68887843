"""Decisions of people about the lexicon, in SQLite: every decision is on disk before it is confirmed."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bilex.errors import ExplorerError
from bilex.run.decision import Decision, Mark, Verdict, checked, right_targets
from bilex.run.decision_file import (
    SEPARATOR,
    can_be_written,
    check_integrity,
    check_place,
    check_tables,
    connect,
    read_decision,
)
from bilex.run.decision_queries import CHANGED, CURRENT, CURRENT_OF_CHANGED, HIGHEST, INSERT, LAST, OF_REVIEWERS, UNDO
from bilex.run.decision_schema import APPLICATION_ID, AS_VERSION_3, SCHEMA, SCHEMA_2, VERSION, set_up, version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bilex.lexicon import Lexicon


class Corrections:
    """All decisions in order. Nothing is overwritten: the latest decision on a pair is valid, unless it is undone.

    A decision that was merged from another file is valid only where none was made here. With `reading` the file must
    exist, and may be read-only. reviewer: who decides, unless a decision names somebody else.
    """

    def __init__(self, path: Path, *, reading: bool = False, reviewer: str = "") -> None:
        self.path, self.reviewer = path, reviewer
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._seen: int | None = None
        self._last = self._undo = 0
        self._now: dict[tuple[str, str], Decision] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._counts: Counter[Verdict] = Counter()
        self._changes: list[tuple[str, str]] = []
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
                self._set_up(frozen=frozen)
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
        mark: Mark | None = None,
        reviewer: str | None = None,
    ) -> Decision:
        """Store a decision. Without `note`, `mark`, or `target` of a correction, the former one stays.

        target: one or several right translations, if the verdict is "corrected".
        """
        before = self.current().get((source, suggestion), Decision(source, suggestion, "open"))
        if target is None and before.verdict == "corrected":
            target = before.targets
        targets = (target,) if isinstance(target, str) else tuple(dict.fromkeys(target or ()))
        decision = Decision(
            source,
            suggestion,
            verdict,
            right_targets(suggestion, verdict, targets),
            before.note if note is None else note,
            before.mark if mark is None else mark,
            self.reviewer if reviewer is None else reviewer,
        )
        self.decide_all([decision])
        return decision

    def decide_all(self, decisions: Iterable[Decision]) -> int:
        """Store decisions in one transaction, as one step: `undo` takes all of them back. Returns their number."""
        rows = [checked(decision) for decision in decisions]
        with self._writing, self._reported(), self._transaction() as file:
            last = file.execute("SELECT coalesce(max(id), 0) FROM decisions").fetchone()[0]
            step = last + 1 if len(rows) > 1 else 0
            file.executemany(INSERT, (_fields(decision, step) for decision in rows))
        return len(rows)

    def undo(self, reviewer: str | None = None) -> list[Decision]:
        """Undo the last step, so that the decisions before are valid again. Returns what was undone.

        reviewer: undo the last step of this person, or the last merge; by default the last of all.
        """
        with self._writing, self._reported(), self._transaction() as file:
            last = file.execute(LAST, {"reviewer": reviewer}).fetchone()
            if last is None:
                return []
            number, step = last
            span = {"first": step or number, "last": number, "step": step}
            undone = file.execute(UNDO, span).fetchall()
        return [self._decision(*row) for row in undone]

    def current(self) -> dict[tuple[str, str], Decision]:
        """The valid decisions by source and suggestion; what any program has changed is read again."""
        with self._lock, self._reported():
            version = self._file.execute("PRAGMA data_version").fetchone()[0]
            if version != self._seen:
                self._read()
                self._seen = version
            return self._now

    def in_order(self) -> list[Decision]:
        """The valid decisions in the order in which they were made."""
        decisions = self.current().values()
        with self._lock:
            return sorted(decisions, key=lambda decision: self._numbers[decision.pair])

    def changed_since(self, place: int) -> tuple[list[tuple[str, str]], int]:
        """The pairs whose decision has changed since that place in the list of changes, and the new place."""
        self.current()
        with self._lock:
            return self._changes[place:], len(self._changes)

    def of_reviewers(self) -> list[Decision]:
        """The latest decision of each reviewer on each pair. The same person here and in a merged file counts twice."""
        with self._lock, self._reported():
            return [self._decision(*row) for row in self._file.execute(OF_REVIEWERS)]

    def counts(self) -> dict[str, int]:
        """Number of decisions of each kind."""
        self.current()
        return {verdict: self._counts[verdict] for verdict in ("accepted", "rejected", "corrected")}

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
        decisions = self.in_order()
        right = list(dict.fromkeys((d.source, target) for d in decisions for target in d.targets))
        return right, {d.pair for d in decisions if d.verdict in ("rejected", "corrected")} - set(right)

    def copy_to(self, path: Path) -> None:
        """Write all decisions to another file, complete also while somebody decides."""
        with self._lock, self._reported():
            self._file.execute("VACUUM INTO ?", (str(path),))

    def _read(self) -> None:
        """Read the decisions on the pairs that have changed since the last reading."""
        since = {"last": self._last, "undo": self._undo}
        self._file.execute("BEGIN")  # all queries see the same state
        try:
            last, undo = self._file.execute(HIGHEST).fetchone()
            changed = self._file.execute(CHANGED, since).fetchall()
            query = CURRENT_OF_CHANGED if self._last else CURRENT
            rows = self._file.execute(query, since if self._last else ()).fetchall()
        finally:
            self._file.execute("COMMIT")
        now = self._now.copy()  # threads may be reading the old one
        counts = self._counts.copy()
        for pair in changed:
            if (before := now.pop(pair, None)) is not None:
                counts[before.verdict] -= 1
        for row in rows:
            decision = self._decision(*row)
            now[decision.pair], self._numbers[decision.pair] = decision, row[0]
            counts[decision.verdict] += 1
        self._now, self._counts, self._last, self._undo = now, counts, last, undo
        self._changes += changed

    def _decision(self, number: int, *fields: Any) -> Decision:
        return read_decision(self.path, number, *fields)

    def _check_owner(self) -> None:
        self._out.execute("PRAGMA trusted_schema = OFF")
        owner, version = self._out.execute("PRAGMA application_id").fetchone()[0], version_of(self._out)
        tables = self._out.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and (owner != APPLICATION_ID or not 1 <= version <= VERSION):
            raise ExplorerError(
                f"{self.path}: this is an SQLite file, but none that this version of bilex explore has made; "
                "name another for the corrections, or update bilex"
            )

    def _set_up(self, *, frozen: bool) -> None:
        """Create or upgrade the table. A file that cannot be written to is read as it is."""
        if not frozen:
            self._out.execute("PRAGMA journal_mode = WAL")
            self._out.execute("PRAGMA synchronous = FULL")  # decisions survive a power failure
            set_up(self._out)
        is_old = frozen and version_of(self._out) < VERSION
        check_tables(self._out, SCHEMA_2 if is_old else SCHEMA, self.path)
        if is_old:
            for connection in (self._out, self._file):
                connection.execute(AS_VERSION_3)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._out.execute("BEGIN IMMEDIATE")
        try:
            yield self._out
        except BaseException:
            self._out.execute("ROLLBACK")
            raise
        self._out.execute("COMMIT")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            raise ExplorerError(
                f"{self.path}: corrections cannot be saved there ({error}); name a file for them in a folder that "
                "can be written to"
            ) from None


def _fields(decision: Decision, step: int) -> tuple[Any, ...]:
    """The values of `INSERT`."""
    target = SEPARATOR.join(decision.targets) or None
    words = (decision.source, decision.suggestion, decision.verdict, target, decision.note, decision.mark)
    return (*words, decision.reviewer, step, int(decision.merged), decision.made or None)
