"""A decision of a person about a suggested translation."""

from __future__ import annotations

from typing import Literal, NamedTuple

from bilex.errors import LexiconError
from bilex.io.dictionary import format_line

Verdict = Literal["open", "accepted", "rejected", "corrected"]
Mark = Literal["", "skipped", "multiword", "name"]
MAX_WORD_LENGTH = 200
MAX_NOTE_LENGTH = 2000
MAX_NAME_LENGTH = 100
"""Characters of the name of a reviewer."""


class Decision(NamedTuple):
    """The decision on one suggested pair. targets: the right translations, which may be the suggestion, or none.

    The verdict is about the translation. The mark is about the entry: skipped for now, a multi-word expression, or a
    name. reviewer and made: who decided, and when (UTC, ISO 8601).
    """

    source: str
    suggestion: str
    verdict: Verdict
    targets: tuple[str, ...] = ()
    note: str = ""
    mark: Mark = ""
    reviewer: str = ""
    made: str = ""
    merged: bool = False
    """Whether it comes from the file of another person."""

    @property
    def pair(self) -> tuple[str, str]:
        """The source word and the suggested translation."""
        return self.source, self.suggestion

    @property
    def judgement(self) -> tuple[Verdict, tuple[str, ...]]:
        """What two reviewers agree on, or not: the verdict and the right translations, in any order."""
        return self.verdict, tuple(sorted(self.targets))


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
    checked_name(decision.reviewer)
    return decision


def checked_name(name: str) -> str:
    """The name of a reviewer without spaces around it; LexiconError if it is too long or has control characters."""
    name = name.strip()
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise LexiconError(
            f"found the name of a reviewer {name[:20]!r}; needed at most {MAX_NAME_LENGTH} printable characters"
        )
    return name


def right_targets(suggestion: str, verdict: Verdict, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The right translations by a verdict. LexiconError if a correction has only the suggestion itself."""
    if verdict == "corrected":
        if set(targets) <= {suggestion}:
            raise LexiconError("a correction needs another target word than the one suggested")
        return targets
    return (suggestion,) if verdict == "accepted" else ()
