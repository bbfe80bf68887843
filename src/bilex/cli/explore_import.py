"""`bilex explore --import`: store the decisions of an edited sheet."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from bilex.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bilex.run.decision import Decision
    from bilex.run.review import Review

SHOWN_PROBLEMS, SHOWN_CORRECTIONS = 20, 5


def import_review(file: Path, sheet: Path, run: Path, reviewer: str, *, as_json: bool) -> None:
    """Store what a sheet decides in a file of decisions. Print how many of each kind, and rows not understood."""
    from bilex.run.corrections import Corrections
    from bilex.run.decision import checked_name
    from bilex.run.review import read_review

    with closing(Corrections(file, reviewer=checked_name(reviewer))) as corrections:
        review = read_review(sheet, corrections)
        corrections.decide_all(review.decisions)
    if as_json:
        problems = [problem._asdict() for problem in review.problems]
        options.print_json(
            {**review.counts(), "known": review.known, "undecided": review.undecided, "problems": problems}
        )
    options.say(*_lines(file, sheet, run, review))


def _lines(file: Path, sheet: Path, run: Path, review: Review) -> Iterable[str]:
    counts = ", ".join(f"{count:,} {verdict}" for verdict, count in review.counts().items())
    others = f"{review.known:,} were stored before, {review.undecided:,} rows have none"
    yield f"{sheet}: decisions stored in {file}: {counts}; {others}"
    corrected = [decision for decision in review.decisions if decision.verdict == "corrected"]
    if corrected:
        more = " ..." if len(corrected) > SHOWN_CORRECTIONS else ""
        yield f"corrections, please check: {'; '.join(map(_correction, corrected[:SHOWN_CORRECTIONS]))}{more}"
    if review.problems:
        yield f"rows that were not understood, so that nothing was stored for them: {len(review.problems):,}"
        yield from (f"  {problem}" for problem in review.problems[:SHOWN_PROBLEMS])
        if len(review.problems) > SHOWN_PROBLEMS:
            yield f"  and {len(review.problems) - SHOWN_PROBLEMS:,} more; --json prints all"
    if review.decisions:
        yield f"to write a lexicon with them: bilex induce {run} --output FILE"


def _correction(decision: Decision) -> str:
    return f"{decision.source} -> {', '.join(decision.targets)}"
