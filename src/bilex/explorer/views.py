"""The data of the page, as plain values for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from bilex.explorer.adapter_offset import personal
from bilex.explorer.chart import plane
from bilex.retrieval.sides import SIDES, Sides, other

if TYPE_CHECKING:
    from bilex.explorer.entries import Entries
    from bilex.explorer.explorer import Explorer
    from bilex.explorer.review import State
    from bilex.explorer.search import Ranked
    from bilex.retrieval.sides import Side
    from bilex.run.decision import Decision

DIGITS = 5


def run_view(explorer: Explorer) -> dict[str, Any]:
    """The run, the progress of its preparation, and the number of decisions."""
    inputs = explorer.alignment.provenance.get("inputs", {})
    folder = explorer.alignment.folder
    return {
        "run": "" if folder is None else folder.resolve().name,
        "method": inputs.get("method", ""),
        "names": explorer.names(),
        "words": {side: len(explorer.table(side)) for side in SIDES},
        "preparation": explorer.preparation.status(),
        "ready": {
            "translations": {side: explorer.search.ready(other(side)) for side in SIDES},
            "lexicon": explorer.induced.ready,
        },
        "decided": decided_view(explorer),
        "learning": explorer.learning.status(),
        "reviewer": explorer.corrections.reviewer,
    }


def candidates_view(explorer: Explorer, side: Side, word: str, row: int | None, found: Ranked) -> list[dict[str, Any]]:
    """Candidates with their scores, whether each is a mutual best translation, and the decision about the pair."""
    candidates = other(side)
    words, decisions = explorer.table(candidates).words, explorer.corrections.current()
    back = explorer.back(candidates, found.rows)
    confidence = explorer.confidence(side, row)
    listed = []
    for place, j in enumerate(found.rows):
        pair = Sides(word, words[j]).first(side)
        figures = {"score": found.scores[place], "cosine": found.cosines[place], "r": found.penalties[place]}
        listed.append(
            {
                "word": words[j],
                **{name: round(value, DIGITS) for name, value in figures.items()},
                "confidence": confidence.get(j),
                "mutual": None if back is None or row is None else back[place] == row,
                "decision": decision_view(decisions.get((pair.source, pair.target))),
                **_ranks(found, place),
            }
        )
    return listed


def given_view(explorer: Explorer, side: Side, word: str, row: int | None) -> list[dict[str, Any]]:
    """The dictionary translations of a word, in the order of the lexicon; with scores if both words have a vector."""
    words, rows = explorer.given[side].get(word, []), explorer.given_rows(side, word)
    found = explorer.rate(side, row, rows) if rows and row is not None else None
    rated = {} if found is None else {c["word"]: c for c in candidates_view(explorer, side, word, row, found)}
    decisions = explorer.corrections.current()
    if side == "target":
        words = sorted(words, key=lambda given: -rated[given]["score"] if given in rated else math.inf)
    return [
        rated.get(given)
        or {
            "word": given,
            **dict.fromkeys(("score", "cosine", "r", "confidence", "mutual")),
            "decision": decision_view(decisions.get((word, given) if side == "source" else (given, word))),
        }
        for given in words
    ]


def neighbours_view(explorer: Explorer, side: Side, found: Ranked) -> list[dict[str, Any]]:
    """Words of one language with their cosines."""
    words = explorer.table(side).words
    pairs = zip(found.rows, found.cosines, strict=True)
    return [{"word": words[i], "cosine": round(cosine, DIGITS)} for i, cosine in pairs]


def offset_view(explorer: Explorer, side: Side, row: int | None) -> dict[str, Any] | None:
    """The offset that the adapter of RAPO adds to the word."""
    if row is None:
        return None
    found = personal(explorer.alignment.mapping, side, row, explorer.alignment.normalized(side))
    if found is None:
        return None
    words = explorer.table(side).words
    named = {
        name: [{"word": words[i], "cosine": round(cosine, DIGITS)} for i, cosine in found[name]]
        for name in ("towards", "away")
    }
    figures = {name: round(found[name], DIGITS) for name in ("size", "along", "turned")}
    context = {"context": [words[i] for i in found["context"][:50]], "context_size": len(found["context"])}
    return figures | named | context


def map_view(explorer: Explorer, near: dict[Side, list[int]], word: tuple[Side, int]) -> dict[str, Any]:
    """Points on two planes: the normalized input vectors, and the same words in the shared space."""
    places = [(side, row) for side, rows in near.items() for row in rows]
    after = torch.stack([explorer.search.rows(side)[row] for side, row in places])
    before = torch.stack([explorer.alignment.normalized(side)[row] for side, row in places])
    planes = {"before": plane(before), "after": plane(after)}
    points = [
        {
            "word": explorer.table(side).words[row],
            "side": side,
            "self": (side, row) == word,
            **{name: [round(value, DIGITS) for value in made.points[i]] for name, made in planes.items()},
        }
        for i, (side, row) in enumerate(places)
    ]
    return {"points": points, "shown": {name: round(made.shown, 3) for name, made in planes.items()}}


def hubs_view(explorer: Explorer, entries: Entries, n: int) -> dict[str, Any]:
    """The targets that are retrieved most often."""
    source, target = explorer.table("source").words, explorer.table("target").words
    hubs = [
        {"word": target[hub.pop("row")], **hub, "examples": [source[i] for i in hub["examples"]]}
        for hub in entries.hubs(n)
    ]
    numbers = entries.hubness
    counts = {name: int(column.sum()) for name, column in entries.doubts.items()}
    return {
        "k": numbers.k,
        "skewness": round(numbers.skewness, 2),
        "never": round(numbers.never, 1),
        "hubs": hubs,
        "entries": len(entries),
        "doubts": counts,
    }


def decided_view(explorer: Explorer) -> dict[str, int]:
    """The number of words with a decision of each kind; the number of pairs, until the lexicon is known."""
    is_done = explorer.preparation.status()["done"]
    return explorer.review.counts() if is_done else explorer.corrections.counts()


def decision_view(decision: Decision | State | None) -> dict[str, Any] | None:
    """A decision; None if the pair is open and has no note or mark."""
    if decision is None or (decision.verdict == "open" and not decision.note and not decision.mark):
        return None
    shown = ("verdict", "note", "mark", "reviewer", "made")
    return {"targets": list(decision.targets), **{name: getattr(decision, name) for name in shown}}


def rounded(value: float) -> float | None:
    """A figure for the page; None if it is not finite."""
    return round(float(value), DIGITS) if math.isfinite(value) else None


def _ranks(found: Ranked, place: int) -> dict[str, int]:
    if not found.score_ranks:
        return {}
    return {"score_rank": found.score_ranks[place], "cosine_rank": found.cosine_ranks[place]}
