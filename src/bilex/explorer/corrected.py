"""An induced lexicon as a person has decided it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bilex.alignment import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bilex.explorer.corrections import Corrections
    from bilex.retrieval.base import Direction


def corrected(
    entries: Iterable[Entry], corrections: Corrections, *, n: int = 1, direction: Direction = "forward"
) -> list[Entry]:
    """The entries with the decisions in them: right translations first, and none that was refused.

    All right ones are there, even if they are more than n; induced ones follow until a word has n. The score of a pair
    that was not induced is nan. Words that only the person has translated come last.
    """
    right, refused = corrections.judged()
    if direction == "backward":
        right, refused = [(s, t) for t, s in right], {(s, t) for t, s in refused}
    induced: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        induced.setdefault(entry.source, {})[entry.target] = entry
    chosen: dict[str, list[Entry]] = {source: [] for source in induced}
    for source, target in right:
        known = induced.get(source, {}).pop(target, Entry(source, target, math.nan, 0))
        chosen.setdefault(source, []).append(known)
    for source, others in induced.items():
        kept = (entry for target, entry in others.items() if (source, target) not in refused)
        chosen[source] += list(kept)[: max(0, n - len(chosen[source]))]
    return [entry for listed in chosen.values() for entry in _ranked(listed)]


def _ranked(entries: list[Entry]) -> Iterator[Entry]:
    return (entry._replace(rank=rank) for rank, entry in enumerate(entries, 1))
