"""The lexicon on the web: list, decide, take back, download."""

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
from bilex.run.corrections import MAX_NOTE_LENGTH, MAX_WORD_LENGTH, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bilex.explorer.explorer import Explorer

Bound = Annotated[float | None, Query(allow_inf_nan=False)]
LONGEST_TYPED = 2000
"""Characters of all translations that are typed at once; the page knows this number too."""
Exported = Literal["corrections", "dictionary", "lexicon"]
Text = Annotated[str, Field(min_length=1, max_length=MAX_WORD_LENGTH)]
Typed = Annotated[str, Field(min_length=1, max_length=LONGEST_TYPED)]


class Deciding(BaseModel):
    """A decision as the page sends it; the target is what was typed, one word or several."""

    model_config = ConfigDict(extra="forbid")

    source: Text
    suggestion: Text
    verdict: Verdict
    target: Typed | None = None
    note: Annotated[str, Field(max_length=MAX_NOTE_LENGTH)] | None = None


def lexicon_routes(explorer: Explorer) -> APIRouter:
    """The routes over a run: plain functions, run in threads, as the file of decisions may keep them waiting."""
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
        shown = views.entries_view(explorer, entries, rows[offset : offset + limit].tolist())
        return JSONAnswer({"total": len(rows), "offset": offset, "entries": shown})

    @router.get("/hubs")
    def hubs(n: Annotated[int, Query(ge=1, le=100)] = 25) -> Response:
        return JSONAnswer(views.hubs_view(explorer, explorer.entries, n))

    @router.post("/decide")
    def decide(deciding: Deciding) -> Response:
        typed = deciding.target
        targets = None if typed is None else translations(typed, explorer.table("target"))
        only_suggested = deciding.verdict == "corrected" and targets == (deciding.suggestion,)
        made = explorer.corrections.decide(
            deciding.source,
            deciding.suggestion,
            "accepted" if only_suggested else deciding.verdict,
            target=targets,
            note=deciding.note,
        )
        unknown = [target for target in made.targets if target not in explorer.table("target")]
        return _answer(decision=views.decision_view(made), unknown=unknown)

    @router.post("/undo")
    def undo() -> Response:
        undone = explorer.corrections.undo()
        pair = None if undone is None else {"source": undone.source, "suggestion": undone.suggestion}
        now = None if undone is None else explorer.corrections.current().get((undone.source, undone.suggestion))
        return _answer(undone=pair, decision=views.decision_view(now))

    def _answer(**fields: Any) -> Response:
        return JSONAnswer({**fields, "decided": explorer.corrections.counts()})

    @router.get("/export")
    def export(what: Exported = "corrections") -> Response:
        headers = {"content-disposition": f'attachment; filename="{what}.tsv"'}
        content = "".join(_exported(explorer, what))
        return Response(content, media_type="text/tab-separated-values; charset=utf-8", headers=headers)

    return router


def _exported(explorer: Explorer, what: Exported) -> Iterator[str]:
    """The lines of a file: decided pairs, these with the run's own dictionary, or the whole lexicon as decided."""
    if what == "lexicon":
        return tsv_lines(list(filter(fits_tsv, explorer.lexicon())))
    pairs = explorer.corrections.lexicon(explorer.alignment.dictionary if what == "dictionary" else None)
    return (format_line(number, *pair) for number, pair in enumerate(pairs, 1))


def _with_status(explorer: Explorer, entries: Entries, status: Verdict) -> NDArray[np.bool_]:
    """Of each entry, whether that was decided about it; few are decided, so that only these are looked at."""
    source = explorer.table("source")
    fits = np.full(len(entries), status == "open")
    for (word, suggestion), decision in explorer.corrections.current().items():
        row = source.index.get(word)
        if row is not None and explorer.suggestion(row) == suggestion:
            fits[row] = decision.verdict == status
    return fits
