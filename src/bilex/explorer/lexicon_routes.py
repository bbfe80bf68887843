"""Routes of the lexicon: what the filters offer, the first page, the list, hubs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from fastapi import APIRouter, Query

from bilex.explorer import views
from bilex.explorer.answer import JSONAnswer
from bilex.explorer.list_query import Page  # noqa: TC001 (FastAPI reads the type)
from bilex.explorer.review_views import about_view, entries_view, home_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.explorer.explorer import Explorer
    from bilex.explorer.list_query import Wanted


def lexicon_routes(explorer: Explorer) -> APIRouter:
    """The routes for a run. They are plain functions, which run in threads, as access to the file may block."""
    router = APIRouter(prefix="/api")

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

    return router


def _place_after(explorer: Explorer, page: Wanted, rows: NDArray[np.int64], row: int) -> int:
    """Where the entries behind this one begin, also if it is no longer in the list itself, as it was decided."""
    order = explorer.entries.ordered(page.filter.order, ascending=page.filter.ascending)
    if row >= len(order):
        return 0
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return int(np.searchsorted(place[rows], place[row], side="right"))
