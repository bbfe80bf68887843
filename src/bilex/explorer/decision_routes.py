"""Routes of decisions: about a pair, about an entry, about many entries; undo; learn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from bilex.explorer import views
from bilex.explorer.answer import JSONAnswer
from bilex.explorer.list_query import Page  # noqa: TC001 (FastAPI reads the type)
from bilex.explorer.preparation import NotReadyError
from bilex.explorer.review_views import shown_candidates
from bilex.explorer.typed import translations
from bilex.run.decision import MAX_NAME_LENGTH, MAX_NOTE_LENGTH, MAX_WORD_LENGTH, Mark, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bilex.explorer.explorer import Explorer
    from bilex.explorer.review import State
    from bilex.run.decision import Decision

MAX_TYPED_LENGTH = 2000
"""Characters of all translations typed at once; decisions.js has the same limit."""
MAX_CHOSEN = 50
"""Translations of one entry at most."""
Text = Annotated[str, Field(min_length=1, max_length=MAX_WORD_LENGTH)]
Typed = Annotated[str, Field(min_length=1, max_length=MAX_TYPED_LENGTH)]
Note = Annotated[str, Field(max_length=MAX_NOTE_LENGTH)]
Reviewer = Annotated[str, Field(max_length=MAX_NAME_LENGTH)]


class ByReviewer(BaseModel):
    """A request with the name of the person who decides; without it, the name that the program was started with."""

    model_config = ConfigDict(extra="forbid")

    reviewer: Reviewer | None = None


class DecisionRequest(ByReviewer):
    """A decision on one pair. The right translations are typed, in one text, `target`, or listed, as `targets`."""

    source: Text
    suggestion: Text
    verdict: Verdict
    target: Typed | None = None
    targets: Annotated[list[Text], Field(max_length=MAX_CHOSEN)] | None = None
    note: Note | None = None


class ReviewRequest(ByReviewer):
    """A decision on an entry. What is left out stays.

    targets: the chosen translations; several typed ones may be in one text, `typed`. Without any the entry is open
    again, or, with `rejected`, has no right translation.
    """

    source: Text
    targets: Annotated[list[Text], Field(max_length=MAX_CHOSEN)] | None = None
    typed: Typed | None = None
    rejected: bool = False
    mark: Mark | None = None
    note: Note | None = None


class AcceptRequest(ByReviewer):
    """Accept all entries of the list that are open. count: how many the person was told they are."""

    count: Annotated[int, Field(ge=1)]


class LearnRequest(ByReviewer):
    """Learn from the decisions, or take back what was learnt."""

    back: bool = False


def decision_routes(explorer: Explorer) -> APIRouter:
    """The routes for a run. They are plain functions, which run in threads, as access to the file may block."""
    router = APIRouter(prefix="/api")

    @router.post("/decide")
    def decide(request: DecisionRequest) -> JSONAnswer:
        decision = _decide_pair(explorer, request)
        told = {"decision": views.decision_view(decision), "unknown": _unknown(explorer, decision.targets)}
        return _answered(explorer, request.source, **told)

    @router.post("/review")
    def review(request: ReviewRequest) -> JSONAnswer:
        state = _decide_entry(explorer, request)
        return _answered(explorer, request.source, unknown=_unknown(explorer, state.targets))

    @router.post("/accept-all")
    def accept_all(request: AcceptRequest, page: Page) -> JSONAnswer:
        rows = page._replace(status="open").rows(explorer).tolist()
        if len(rows) != request.count:
            raise HTTPException(
                409, f"the list has changed: it has {len(rows):,} open entries now, not {request.count:,}"
            )
        explorer.review.accept(rows, explorer.table("source").words, request.reviewer)
        return _answered(explorer, None, count=len(rows))

    @router.post("/undo")
    def undo(request: ByReviewer) -> JSONAnswer:
        undone = explorer.corrections.undo(request.reviewer or None)
        words = {decision.source for decision in undone}
        pairs = [_pair_view(explorer, decision) for decision in reversed(undone)] if len(words) == 1 else []
        return _answered(explorer, undone[-1].source if undone else None, words=len(words), pairs=pairs)

    @router.post("/learn")
    def learn(request: LearnRequest) -> JSONAnswer:
        (explorer.learning.take_back if request.back else explorer.learning.start)()
        return JSONAnswer({"learning": explorer.learning.status()})

    return router


def _decide_pair(explorer: Explorer, request: DecisionRequest) -> Decision:
    """Store a decision on a pair. Typed translations that are only the suggestion accept it."""
    typed = request.target
    targets = request.targets if typed is None else translations(typed, explorer.table("target"))
    is_suggestion = request.verdict == "corrected" and tuple(targets or ()) == (request.suggestion,)
    decision = explorer.corrections.decide(
        request.source,
        request.suggestion,
        "accepted" if is_suggestion else request.verdict,
        target=targets,
        note=request.note,
        reviewer=request.reviewer,
    )
    return explorer.corrections.current().get(decision.pair, decision)  # with the time


def _decide_entry(explorer: Explorer, request: ReviewRequest) -> State:
    """Store a decision on an entry. The verdict follows from what is right."""
    row = explorer.table("source").index.get(request.source)
    if row is None:
        raise HTTPException(404, f"{request.source!r} is not in the source table")
    before, suggestion = explorer.review.state(request.source), explorer.suggestion(row)
    targets, verdict = before.targets, before.verdict
    if request.targets is not None or request.typed is not None or request.rejected:
        typed = translations(request.typed, explorer.table("target")) if request.typed else ()
        targets = tuple(dict.fromkeys([*(request.targets or ()), *typed]))
        empty: Verdict = "rejected" if request.rejected else "open"
        verdict = empty if not targets else "accepted" if targets == (suggestion,) else "corrected"
    return explorer.review.decide(
        request.source,
        verdict,
        targets,
        shown=shown_candidates(explorer, row),
        mark=request.mark,
        note=request.note,
        reviewer=request.reviewer,
    )


def _pair_view(explorer: Explorer, undone: Decision) -> dict[str, Any]:
    """A pair, and what is decided about it now."""
    now = explorer.corrections.current().get(undone.pair)
    return {"source": undone.source, "suggestion": undone.suggestion, "decision": views.decision_view(now)}


def _unknown(explorer: Explorer, targets: Iterable[str]) -> list[str]:
    return [target for target in targets if target not in explorer.table("target")]


def _answered(explorer: Explorer, source: str | None, **fields: Any) -> JSONAnswer:
    """The answer to a change: the new state of the entry, if there is one, and the number of decisions."""
    state = None
    if source is not None and source in explorer.table("source"):
        try:
            state = explorer.review.state(source)
        except NotReadyError:  # a pair can be decided before the lexicon is there
            state = None
    return JSONAnswer({**fields, "state": views.decision_view(state), "decided": views.decided_view(explorer)})
