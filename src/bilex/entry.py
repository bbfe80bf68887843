"""Entries of an induced lexicon, and their order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Origin = Literal["found", "given", "accepted", "corrected"]
ORIGINS: tuple[Origin, ...] = ("accepted", "corrected", "given", "found")


class Entry(NamedTuple):
    """An entry of a lexicon; rank 1 is the first translation of its source word.

    The score is nan if a word has no vector. origin: found by the vectors, given by the dictionary, or accepted or
    corrected by a person in `bilex explore`. confidence: the probability that a dictionary lists the pair; any_right:
    that it lists any of the candidates that were ranked for the source word. Both are nan if they are not known.
    """

    source: str
    target: str
    score: float = math.nan
    rank: int = 0
    origin: Origin = "found"
    confidence: float = math.nan
    any_right: float = math.nan

    @property
    def is_decided(self) -> bool:
        """Whether a person has accepted or corrected the pair."""
        return self.origin in ("accepted", "corrected")


def put_first(
    entries: Iterable[Entry], right: Iterable[Entry], *, n: int, refused: Collection[tuple[str, str]] = ()
) -> list[Entry]:
    """Merge entries with right ones: right entries first for each source word, without refused pairs.

    All right entries are included, even if they are more than n, and so are given entries; then found entries follow,
    until a source word has n. A right pair that is among the entries keeps their score and confidence. Source words
    that have only right entries come last.
    """
    others: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        others.setdefault(entry.source, {})[entry.target] = entry
    listed: dict[str, list[Entry]] = {source: [] for source in others}
    for entry in right:
        known = others.get(entry.source, {}).pop(entry.target, entry)
        listed.setdefault(entry.source, []).append(known._replace(origin=entry.origin))
    for source, remaining in others.items():
        allowed = [entry for entry in remaining.values() if (source, entry.target) not in refused]
        listed[source] += [entry for entry in allowed if entry.origin != "found"]
        listed[source] += [entry for entry in allowed if entry.origin == "found"][: max(0, n - len(listed[source]))]
    return [entry._replace(rank=rank) for ranked in listed.values() for rank, entry in enumerate(ranked, 1)]
