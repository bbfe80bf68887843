"""Decisions from an edited sheet of `bilex induce --output FILE.xlsx`, saved as any kind of spreadsheet."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bilex.errors import LexiconError
from bilex.io.sheets.read import read_sheets
from bilex.io.sheets.review_sheet import NEEDED, read_review_sheet
from bilex.io.sheets.translations import take_apart, tidy
from bilex.run.decision import Decision, checked
from bilex.text.words import quote

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.io.sheets.review_sheet import ReviewRow
    from bilex.run.corrections import Corrections
    from bilex.run.decision import Verdict

ACCEPT = frozenset({"accept", "accepted", "ok", "yes", "y", "true", "1", "+", "✓", "✔", "☑"})
REJECT = frozenset({"reject", "rejected", "no", "n", "false", "0", "-", "–", "✗", "✘", "☒"})
AMBIGUOUS = frozenset({"x", "×", "?", "??", "???"})
"""Marks that mean one thing to some people and another to others, unless they stand in quotation marks."""
_QUOTED = re.compile(r"[\"'“”„«»‟‘’](?P<text>.+)[\"'“”„«»‟‘’]")
"""A translation that is also one of the words above, such as "no"."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


class Problem(NamedTuple):
    """A row whose decision was not stored, and why."""

    row: int
    pair: str
    why: str

    def __str__(self) -> str:
        return f"row {self.row} ({self.pair}): {self.why}"


@dataclass(frozen=True)
class Review:
    """What a sheet decides: new decisions, the number of rows with one that was stored before, and rows not understood.

    undecided: rows whose decision is empty.
    """

    decisions: tuple[Decision, ...]
    known: int
    undecided: int
    problems: tuple[Problem, ...]

    def counts(self) -> dict[str, int]:
        """Number of new decisions of each kind."""
        found = Counter(decision.verdict for decision in self.decisions)
        return {verdict: found[verdict] for verdict in ("accepted", "rejected", "corrected")}


def read_review(path: Path, corrections: Corrections) -> Review:
    """The decisions in a file that differ from those stored. Nothing is stored; `Corrections.decide_all` does it."""
    current = corrections.current()
    decisions: list[Decision] = []
    decided: set[tuple[str, str]] = set()
    problems, known, undecided = [], 0, 0
    for row in _rows(path):
        if not row.decision:
            undecided += 1
            continue
        try:
            decision = _decision(row)
            if decision.pair in decided:
                raise LexiconError("another row decides on the same pair")
        except LexiconError as error:
            problems.append(Problem(row.number, f"{quote(row.source)} - {quote(row.target)}", str(error)))
            continue
        before = current.get((row.source, row.target))
        decided.add(decision.pair)
        decision = decision._replace(reviewer=corrections.reviewer)
        if before is not None:
            decision = decision._replace(note=row.note or before.note, mark=before.mark)
        if before is not None and _is_known(decision, before):
            known += 1
        else:
            decisions.append(decision)
    return Review(tuple(decisions), known, undecided, tuple(problems))


def understand(text: str, suggestion: str) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict of a cell and the right translations: accept, reject, or else the text itself as a correction."""
    word = tidy(text).casefold()
    if word in ACCEPT:
        return "accepted", (suggestion,)
    if word in REJECT:
        return "rejected", ()
    quoted = _QUOTED.fullmatch(text.strip())
    targets = (tidy(quoted["text"]),) if quoted and tidy(quoted["text"]) else take_apart(text).words
    if word in AMBIGUOUS or not targets:
        raise LexiconError(f"found {quote(text)}; needed accept, reject, or the right translation")
    return ("accepted", (suggestion,)) if targets == (suggestion,) else ("corrected", targets)


def _decision(row: ReviewRow) -> Decision:
    if not (row.source and row.target):
        raise LexiconError("a decision needs a source and a target word in its row")
    verdict, targets = understand(row.decision, row.target)
    if verdict == "corrected" and _NUMBER.fullmatch(row.decision) and not any(map(str.isdigit, row.source)):
        raise LexiconError(f"found {quote(row.decision)}; write the translation itself, no number of an alternative")
    return checked(Decision(row.source, row.target, verdict, targets, row.note))


def _is_known(decision: Decision, before: Decision) -> bool:
    """Whether the same was decided before: by the same reviewer, if there is a name."""
    is_own = decision.reviewer in ("", before.reviewer) and not before.merged
    return is_own and (decision.judgement, decision.note) == (before.judgement, before.note)


def _rows(path: Path) -> list[ReviewRow]:
    """The rows of the first sheet that has the headings."""
    for sheet in read_sheets(path):
        rows = read_review_sheet(sheet)
        if rows is not None:
            return rows
    raise LexiconError(
        f"{path}: found no row with the headings {', '.join(NEEDED)}; needed a lexicon that bilex induce has written "
        "as .xlsx, with decisions filled in"
    )
