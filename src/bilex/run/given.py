"""The pairs that the user has given: they come first in the lexicon, before those found by the vectors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from bilex.coverage import Lookup
from bilex.entry import Entry, put_first
from bilex.lexicon import Lexicon

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bilex.alignment import Alignment
    from bilex.retrieval import Retrieval
    from bilex.retrieval.sides import Direction


def given_pairs(train: Lexicon, dev: Lexicon | None, provenance: Mapping[str, Any]) -> Lexicon:
    """The pairs of both dictionaries without those added by --identical and --numerals.

    `spelt_alike` of the provenance is the number of these pairs, which are at the end of each dictionary. Runs of
    earlier versions do not have it; there, words whose only translation is the word itself are left out.
    """
    parts = {"train": train} if dev is None else {"train": train, "dev": dev}
    if provenance.get("inputs", {}).get("spelling"):
        counts = provenance.get("spelt_alike")
        parts = {
            name: _without_alike(part) if counts is None else _without_last(part, counts[name])
            for name, part in parts.items()
        }
    return replace(train, pairs=tuple(dict.fromkeys(pair for part in parts.values() for pair in part)), report=None)


def _without_last(lexicon: Lexicon, count: int) -> Lexicon:
    return Lexicon(lexicon.pairs[: max(0, len(lexicon) - count)])


def _without_alike(lexicon: Lexicon) -> Lexicon:
    targets = lexicon.targets_of()
    return Lexicon(tuple(pair for pair in lexicon if targets[pair[0]] != [pair[0]]))


def with_given(
    alignment: Alignment,
    found: list[Entry],
    *,
    n: int,
    direction: Direction = "forward",
    retrieval: Retrieval | None = None,
    max_rank: int | None = None,
) -> list[Entry]:
    """A lexicon with given translations first, in order of source frequency; words without a vector come last.

    Several given translations of a word are in the order of the dictionary; backward they are sorted by score, since a
    dictionary has no order for that direction.
    """
    given = given_entries(alignment, direction=direction, max_rank=max_rank)
    given = scored(alignment, given, direction=direction, retrieval=retrieval)
    if direction == "backward":
        given.sort(key=lambda entry: math.inf if math.isnan(entry.score) else -entry.score)
    merged = put_first(found, given, n=n)
    place = alignment.tables.along(direction).source.index
    return sorted(merged, key=lambda entry: place.get(entry.source, len(place)))


def given_entries(
    alignment: Alignment, *, direction: Direction = "forward", max_rank: int | None = None
) -> list[Entry]:
    """The given pairs in the order of the dictionary, with words as the tables spell them.

    With `max_rank`, only pairs whose source is among this many most frequent words.
    """
    lexicon = alignment.given if direction == "forward" else alignment.given.swapped()
    fold_case = alignment.provenance.get("inputs", {}).get("fold_case", False)
    source, target = (Lookup(table, fold_case) for table in alignment.tables.along(direction))
    pairs = dict.fromkeys((source.spelling(s), target.spelling(t)) for s, t in lexicon)
    return [
        Entry(s, t, origin="given") for s, t in pairs if max_rank is None or source.rows.get(s, max_rank) < max_rank
    ]


def scored(
    alignment: Alignment,
    entries: list[Entry],
    *,
    direction: Direction = "forward",
    retrieval: Retrieval | None = None,
) -> list[Entry]:
    """The entries with missing scores filled in, if both words have a vector."""
    sources, targets = alignment.tables.along(direction)
    places = {
        i: (sources.index[entry.source], targets.index[entry.target])
        for i, entry in enumerate(entries)
        if math.isnan(entry.score) and entry.source in sources and entry.target in targets
    }
    if not places:
        return entries
    rows, columns = torch.tensor(list(places.values()), device=alignment.device).T
    scores = alignment.index(retrieval).scores(rows, columns, direction).tolist()
    known = dict(zip(places, scores, strict=True))
    return [entry._replace(score=known.get(i, entry.score)) for i, entry in enumerate(entries)]
