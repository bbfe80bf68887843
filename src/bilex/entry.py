"""Lines of a lexicon: where each comes from, and which ones come first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Origin = Literal["found", "given", "accepted", "corrected"]
ORIGINS: tuple[Origin, ...] = ("accepted", "corrected", "given", "found")


class Entry(NamedTuple):
    """A line of a lexicon; rank 1 is the first translation of its source.

    The score is nan where a word of the pair has no vector. `origin` says where the pair comes from: it was found by
    the vectors, given by the dictionary, or accepted or entered by a person in `bilex explore`.
    """

    source: str
    target: str
    score: float = math.nan
    rank: int = 0
    origin: Origin = "found"


def put_first(
    entries: Iterable[Entry], right: Iterable[Entry], *, n: int, refused: Collection[tuple[str, str]] = ()
) -> list[Entry]:
    """The entries with those that are known to be right before the others of their source, and none that is refused.

    All right ones are there, even if they are more than n, and so are entries that were not found but given; found ones
    follow until a source has n. A right pair that is among the entries keeps its score. Sources that only right ones
    have come last.
    """
    others: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        others.setdefault(entry.source, {})[entry.target] = entry
    listed: dict[str, list[Entry]] = {source: [] for source in others}
    for entry in right:
        known = others.get(entry.source, {}).pop(entry.target, entry)
        listed.setdefault(entry.source, []).append(known._replace(origin=entry.origin))
    for source, left in others.items():
        allowed = [entry for entry in left.values() if (source, entry.target) not in refused]
        listed[source] += [entry for entry in allowed if entry.origin != "found"]
        listed[source] += [entry for entry in allowed if entry.origin == "found"][: max(0, n - len(listed[source]))]
    return [entry._replace(rank=rank) for ranked in listed.values() for rank, entry in enumerate(ranked, 1)]
