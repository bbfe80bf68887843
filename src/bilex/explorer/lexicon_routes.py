"""Routes of the lexicon: list, decide, accept many, undo, learn from the decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field

from bilex.explorer import views
from bilex.explorer.answer import JSONAnswer
from bilex.explorer.list_query import Wanted, wanted
from bilex.explorer.preparation import NotReadyError
from bilex.explorer.review_views import about_view, entries_view, home_view
from bilex.explorer.typed import translations
from bilex.run.decision import MAX_NAME_LENGTH, MAX_NOTE_LENGTH, MAX_WORD_LENGTH, Mark, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.explorer.explorer import Explorer

MAX_TYPED_LENGTH = 2000
"""Characters of all translations typed at once; decisions.js has the same limit."""
MAX_CHOSEN = 50
"""Translations of one entry at most."""
Text = Annotated[str, Field(min_length=1, max_length=MAX_WORD_LENGTH)]
Typed = Annotated[str, Field(min_length=1, max_length=MAX_TYPED_LENGTH)]
Note = Annotated[str, Field(max_length=MAX_NOTE_LENGTH)]
Reviewer = Annotated[str, Field(max_length=MAX_NAME_LENGTH)]
Page = Annotated[Wanted, Depends(wanted)]


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


def lexicon_routes(explorer: Explorer) -> APIRouter:
    """The routes for a run. They are plain functions, which run in threads, as access to the file may block."""
    router = APIRouter(prefix="/api")
    _list_routes(router, explorer)
    _decision_routes(router, explorer)
    return router


def _list_routes(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/about")
    def about() -> JSONAnswer:
        return JSONAnswer(about_view(explorer))

    @router.get("/home")
    def home() -> JSONAnswer:
        return JSONAnswer(home_view(explorer))

    @router.get("/lexicon")
    def lexicon(
        page: Page,
        offset: Annotated[int, Query(ge=0)] = 0,
        after: Annotated[int | None, Query(ge=1)] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> JSONAnswer:
        rows = page.rows(explorer)
        if after is not None:
            offset = _place_after(explorer, page, rows, after - 1)
        listed = entries_view(explorer, rows[offset : offset + limit].tolist())
        return JSONAnswer({"total": len(rows), "offset": offset, "entries": listed})

    @router.get("/hubs")
    def hubs(n: Annotated[int, Query(ge=1, le=100)] = 25) -> JSONAnswer:
        return JSONAnswer(views.hubs_view(explorer, explorer.entries, n))


def _decision_routes(router: APIRouter, explorer: Explorer) -> None:
    @router.post("/decide")
    def decide(request: DecisionRequest) -> JSONAnswer:
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
        stored = explorer.corrections.current().get(decision.pair, decision)  # with the time
        return answered(request.source, decision=views.decision_view(stored), unknown=unknown(decision.targets))

    @router.post("/review")
    def review(request: ReviewRequest) -> JSONAnswer:
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
        state = explorer.review.decide(
            request.source, verdict, targets, mark=request.mark, note=request.note, reviewer=request.reviewer
        )
        return answered(request.source, unknown=unknown(state.targets))

    @router.post("/accept-all")
    def accept_all(request: AcceptRequest, page: Page) -> JSONAnswer:
        rows = page._replace(status="open").rows(explorer).tolist()
        if len(rows) != request.count:
            raise HTTPException(
                409, f"the list has changed: it has {len(rows):,} open entries now, not {request.count:,}"
            )
        explorer.review.accept(rows, explorer.table("source").words, request.reviewer)
        return answered(None, count=len(rows))

    @router.post("/undo")
    def undo(request: ByReviewer) -> JSONAnswer:
        undone = explorer.corrections.undo(request.reviewer or None)
        last = undone[-1] if undone else None
        pair = None if last is None else {"source": last.source, "suggestion": last.suggestion}
        current = None if last is None else explorer.corrections.current().get(last.pair)
        return answered(last and last.source, undone=pair, count=len(undone), decision=views.decision_view(current))

    @router.post("/learn")
    def learn(request: LearnRequest) -> JSONAnswer:
        (explorer.learning.take_back if request.back else explorer.learning.start)()
        return JSONAnswer({"learning": explorer.learning.status()})

    def unknown(targets: tuple[str, ...]) -> list[str]:
        return [target for target in targets if target not in explorer.table("target")]

    def answered(source: str | None, **fields: Any) -> JSONAnswer:
        """The answer to a change: the new state of the entry, if there is one, and the number of decisions."""
        state = None
        if source is not None and source in explorer.table("source"):
            try:
                state = explorer.review.state(source)
            except NotReadyError:  # a pair can be decided before the lexicon is there
                state = None
        return JSONAnswer({**fields, "state": views.decision_view(state), "decided": explorer.corrections.counts()})


def _place_after(explorer: Explorer, page: Wanted, rows: NDArray[np.int64], row: int) -> int:
    """Where the entries behind this one begin, also if it is no longer in the list itself, as it was decided."""
    order = explorer.entries.ordered(page.filter.order, ascending=page.filter.ascending)
    if row >= len(order):
        return 0
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return int(np.searchsorted(place[rows], place[row], side="right"))
