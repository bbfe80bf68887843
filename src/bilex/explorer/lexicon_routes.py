"""Routes of the lexicon: list, decide, undo, export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from bilex.explorer import views
from bilex.explorer.answer import JSONAnswer
from bilex.explorer.entries import Doubt, Entries, Filter, Order
from bilex.explorer.typed import translations
from bilex.io.dictionary import format_line
from bilex.io.entries import fits_tsv, tsv_lines
from bilex.run.decision import MAX_NOTE_LENGTH, MAX_WORD_LENGTH, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bilex.explorer.explorer import Explorer

Bound = Annotated[float | None, Query(allow_inf_nan=False)]
MAX_TYPED_LENGTH = 2000
"""Characters of all translations typed at once; decisions.js has the same limit."""
ExportKind = Literal["corrections", "dictionary", "lexicon"]
Text = Annotated[str, Field(min_length=1, max_length=MAX_WORD_LENGTH)]
Typed = Annotated[str, Field(min_length=1, max_length=MAX_TYPED_LENGTH)]


class DecisionRequest(BaseModel):
    """A decision as the page sends it. `target` is the typed text, of one word or several."""

    model_config = ConfigDict(extra="forbid")

    source: Text
    suggestion: Text
    verdict: Verdict
    target: Typed | None = None
    note: Annotated[str, Field(max_length=MAX_NOTE_LENGTH)] | None = None


def lexicon_routes(explorer: Explorer) -> APIRouter:
    """The routes for a run. They are plain functions, which run in threads, as access to the file may block."""
    router = APIRouter(prefix="/api")

    @router.get("/lexicon")
    def lexicon(
        text: Annotated[str, Query(max_length=MAX_WORD_LENGTH)] = "",
        status: Verdict | Literal[""] = "",
        doubt: Doubt | Literal["any", ""] = "",
        origin: Literal["given", "found", ""] = "",
        least: Bound = None,
        most: Bound = None,
        order: Order = "frequency",
        ascending: bool = True,
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> Response:
        entries = explorer.entries
        wanted = Filter(text=text, doubt=doubt, least=least, most=most, origin=origin, order=order, ascending=ascending)
        rows = entries.select(wanted, _with_status(explorer, entries, status) if status else None)
        listed = views.entries_view(explorer, entries, rows[offset : offset + limit].tolist())
        return JSONAnswer({"total": len(rows), "offset": offset, "entries": listed})

    @router.get("/hubs")
    def hubs(n: Annotated[int, Query(ge=1, le=100)] = 25) -> Response:
        return JSONAnswer(views.hubs_view(explorer, explorer.entries, n))

    @router.post("/decide")
    def decide(request: DecisionRequest) -> Response:
        typed = request.target
        targets = None if typed is None else translations(typed, explorer.table("target"))
        is_suggestion = request.verdict == "corrected" and targets == (request.suggestion,)
        decision = explorer.corrections.decide(
            request.source,
            request.suggestion,
            "accepted" if is_suggestion else request.verdict,
            target=targets,
            note=request.note,
        )
        unknown = [target for target in decision.targets if target not in explorer.table("target")]
        return _response(decision=views.decision_view(decision), unknown=unknown)

    @router.post("/undo")
    def undo() -> Response:
        undone = explorer.corrections.undo()
        pair = None if undone is None else {"source": undone.source, "suggestion": undone.suggestion}
        current = None if undone is None else explorer.corrections.current().get((undone.source, undone.suggestion))
        return _response(undone=pair, decision=views.decision_view(current))

    def _response(**fields: Any) -> Response:
        return JSONAnswer({**fields, "decided": explorer.corrections.counts()})

    @router.get("/export")
    def export(what: ExportKind = "corrections") -> Response:
        headers = {"content-disposition": f'attachment; filename="{what}.tsv"'}
        content = "".join(_export_lines(explorer, what))
        return Response(content, media_type="text/tab-separated-values; charset=utf-8", headers=headers)

    return router


def _export_lines(explorer: Explorer, what: ExportKind) -> Iterator[str]:
    """Lines of a file: the accepted and corrected pairs, these and the run's dictionary, or the corrected lexicon."""
    if what == "lexicon":
        return tsv_lines(list(filter(fits_tsv, explorer.lexicon())))
    pairs = explorer.corrections.lexicon(explorer.alignment.dictionary if what == "dictionary" else None)
    return (format_line(number, *pair) for number, pair in enumerate(pairs, 1))


def _with_status(explorer: Explorer, entries: Entries, status: Verdict) -> NDArray[np.bool_]:
    """Mask of the entries with this status. The loop is over the decisions, which are few."""
    source = explorer.table("source")
    mask = np.full(len(entries), status == "open")
    for (word, suggestion), decision in explorer.corrections.current().items():
        row = source.index.get(word)
        if row is not None and explorer.suggestion(row) == suggestion:
            mask[row] = decision.verdict == status
    return mask
