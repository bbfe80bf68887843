"""The data of the review, as plain values for JSON: entries with their candidates, and what the first page tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.explorer.entries import SHOWN, Filter
from bilex.explorer.views import decision_view, rounded
from bilex.retrieval.sides import SIDES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bilex.explorer.explorer import Explorer
    from bilex.explorer.review import State
    from bilex.retrieval.sides import Side

USEFUL = 8


def entries_view(explorer: Explorer, rows: Sequence[int]) -> list[dict[str, Any]]:
    """Entries of the lexicon, each with its best candidates and the state of its review."""
    words = explorer.table("source").words
    states = explorer.review.states(words[row] for row in rows)
    return [_entry_view(explorer, row, state) for row, state in zip(rows, states, strict=True)]


def _entry_view(explorer: Explorer, row: int, state: State) -> dict[str, Any]:
    entries, source = explorer.entries, explorer.table("source").words[row]
    candidates = _candidates(explorer, row)
    shown = {candidate["word"] for candidate in candidates}
    added = [_candidate(explorer, target) for target in state.targets if target not in shown]
    figures = {"score": entries.score, "margin": entries.margin, "confidence": entries.confidence}
    return {
        "source": source,
        "target": candidates[0]["word"],
        "rank": row + 1,
        **tag_view(explorer, "source", source),
        "origin": "given" if entries.is_given[row] else "found",
        **{name: rounded(column[row]) for name, column in figures.items()},
        "candidates": candidates + added,
        "doubts": [name for name, column in entries.doubts.items() if column[row]],
        "decision": decision_view(state),
    }


def shown_candidates(explorer: Explorer, row: int) -> list[str]:
    """The candidates that the list shows with an entry."""
    return [candidate["word"] for candidate in _candidates(explorer, row)]


def _candidates(explorer: Explorer, row: int) -> list[dict[str, Any]]:
    """The translations of the dictionary, then the best found ones."""
    entries, words = explorer.entries, explorer.table("target").words
    given = entries.given.get(row, ())
    listed = [_candidate(explorer, e.target, e.score, e.confidence, given=True) for e in given]
    known = {entry.target for entry in given}
    figures = entries.found_scores[row].tolist(), entries.found_confidence[row].tolist()
    for column, score, confidence in zip(entries.found[row].tolist(), *figures, strict=True):
        if len(listed) >= SHOWN:
            break
        if words[column] not in known:
            listed.append(_candidate(explorer, words[column], score, confidence))
    return listed


def _candidate(
    explorer: Explorer, word: str, score: float = np.nan, confidence: float = np.nan, *, given: bool = False
) -> dict[str, Any]:
    return {
        "word": word,
        "score": rounded(score),
        "confidence": rounded(confidence),
        "given": given,
        "vector": word in explorer.table("target"),
    }


def about_view(explorer: Explorer) -> dict[str, Any]:
    """What the filters of the list offer: scripts, parts of speech, and whether confidence and names are known."""
    entries = explorer.entries
    tags = explorer.tags.get("source")
    return {
        "scripts": entries.kinds.scripts,
        "names_known": entries.kinds.capitals_mark_names,
        "confidence": bool(np.isfinite(entries.confidence).any()),
        "parts": tags.parts if tags else [],
    }


def tag_view(explorer: Explorer, side: Side, word: str) -> dict[str, str]:
    """The lemma and the part of speech of a word, where they are known."""
    tags = explorer.tags.get(side)
    return tags.of(word)._asdict() if tags else {"lemma": "", "part": ""}


def home_view(explorer: Explorer) -> dict[str, Any]:
    """What the lexicon is, how far its review is, and the entries whose review is most useful."""
    alignment, entries, review = explorer.alignment, explorer.entries, explorer.review
    useful = Filter(order="useful", ascending=False, hide=frozenset({"nonwords", "names", "given"}))
    rows = entries.select(useful, review.with_status("open"))[:USEFUL]
    return {
        "names": explorer.names(),
        "method": alignment.provenance.get("inputs", {}).get("method", ""),
        "words": {side: len(explorer.table(side)) for side in SIDES},
        "dictionary": len(alignment.given),
        "held_out": alignment.provenance.get("held_out"),
        **about_view(explorer),
        "learning": {**explorer.learning.status(), "decided": sum(explorer.corrections.counts().values())},
        "expected": _expected_precision(entries.confidence[~entries.is_given]),
        "review": {
            origin: _progress(explorer, entries.is_given == (origin == "given")) for origin in ("found", "given")
        },
        "useful": entries_view(explorer, rows.tolist()),
    }


def _progress(explorer: Explorer, of: NDArray[np.bool_]) -> dict[str, int]:
    """How many of these entries have been decided or set aside; tokens that are no words do not count."""
    words, review = of & ~explorer.entries.kinds.nonword, explorer.review
    parts = {
        "total": words,
        "decided": words & review.with_status("decided"),
        "aside": words & review.with_status("aside"),
    }
    return {name: int(mask.sum()) for name, mask in parts.items()}


def _expected_precision(confidence: NDArray[np.float32]) -> float | None:
    """The mean confidence of found entries: the precision to expect of them; None if it is not known."""
    known = confidence[np.isfinite(confidence)]
    return round(100 * float(known.mean()), 1) if len(known) else None
