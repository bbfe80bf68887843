"""The web application: the page and the requests that it sends."""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from bilex.errors import BilexError, TableError
from bilex.explorer import views
from bilex.explorer.answer import JSONAnswer
from bilex.explorer.decision_routes import decision_routes
from bilex.explorer.evidence_routes import evidence_routes
from bilex.explorer.export_routes import export_routes
from bilex.explorer.guard import Guard
from bilex.explorer.lexicon_routes import lexicon_routes
from bilex.explorer.page import page, static_files
from bilex.explorer.people_routes import people_routes
from bilex.explorer.preparation import NotReadyError
from bilex.explorer.review_views import tag_view
from bilex.retrieval.sides import Side, other
from bilex.run.decision import MAX_WORD_LENGTH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bilex.explorer.explorer import Explorer
    from bilex.explorer.search import Ranked

Word = Annotated[str, Query(min_length=1, max_length=MAX_WORD_LENGTH)]
Number = Annotated[int, Query(ge=1, le=50)]


def make_app(explorer: Explorer, *, host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """The application for a run. It starts the threads of the explorer and stops them at shutdown."""
    token = token or secrets.token_urlsafe(32)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        explorer.preparation.start()
        yield
        await asyncio.to_thread(explorer.close)

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    _page_routes(app, token)
    _word_routes(app, explorer)
    for routes in (lexicon_routes, decision_routes, people_routes, evidence_routes, export_routes):
        app.include_router(routes(explorer))
    _error_handlers(app)
    return Guard(app, token, host)


def _page_routes(app: FastAPI, token: str) -> None:
    @app.get("/")
    async def index() -> Response:
        file = page(token)
        return Response(file.content, media_type=file.media_type)

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        file = static_files().get(name)
        if file is None:
            raise HTTPException(404, "there is no such file")
        return Response(file.content, media_type=file.media_type)


def _word_routes(app: FastAPI, explorer: Explorer) -> None:
    @app.get("/api/status")
    async def status() -> Response:
        return JSONAnswer(views.run_view(explorer))

    @app.get("/api/complete")
    async def complete(text: Annotated[str, Query(max_length=MAX_WORD_LENGTH)], side: Side, n: Number = 12) -> Response:
        words = explorer.table(side).words
        return JSONAnswer([words[row] for row in explorer.words[side].complete(text, n)])

    @app.get("/api/translate")
    async def translate(word: Word, side: Side, n: Number = 10) -> Response:
        row, vector = await _vector(explorer, side, word)
        found = await _result(explorer.translate(side, row, vector, n))
        return JSONAnswer(
            {
                "word": word,
                "side": side,
                "through": "subwords" if row is None else "table",
                "rank": None if row is None else row + 1,
                **tag_view(explorer, side, word),
                "r": round(found.own, views.DIGITS),
                "given": views.given_view(explorer, side, word, row),
                "candidates": views.candidates_view(explorer, side, word, row, found),
            }
        )

    @app.get("/api/explain")
    async def explain(word: Word, side: Side, n: Number = 10) -> Response:
        row, vector = await _vector(explorer, side, word)
        given_rows = explorer.given_rows(side, word)
        found = await _result(explorer.explain(side, row, vector, n, given_rows))
        near = await _result(explorer.neighbours(side, row, vector, n))
        offset = await asyncio.to_thread(views.offset_view, explorer, side, row)
        return JSONAnswer(
            {
                "word": word,
                "r": round(found.own, views.DIGITS),
                "candidates": views.candidates_view(explorer, side, word, row, found),
                "neighbours": views.neighbours_view(explorer, side, near),
                "personal": offset,
            }
        )

    @app.get("/api/map")
    async def word_map(word: Word, side: Side, n: Number = 9) -> Response:
        row, vector = await _vector(explorer, side, word)
        if row is None:
            raise HTTPException(404, f"{word!r} is not in the table, so it is not on the map")
        found = await _result(explorer.explain(side, row, vector, n))
        near = await _result(explorer.neighbours(side, row, vector, n))
        rows = {side: [row, *near.rows], other(side): found.rows}
        return JSONAnswer(await asyncio.to_thread(views.map_view, explorer, rows, (side, row)))


async def _vector(explorer: Explorer, side: Side, word: str) -> tuple[int | None, Any]:
    """Row and vector of a word. A vector from subwords may be slow, so a thread computes it."""
    if word in explorer.table(side):
        return explorer.vector(side, word)
    return await asyncio.to_thread(explorer.vector, side, word)


async def _result(found: Future[Ranked] | Ranked) -> Ranked:
    return await asyncio.wrap_future(found) if isinstance(found, Future) else found


def _error_handlers(app: FastAPI) -> None:
    """Every error response is JSON with a message for the user."""

    @app.exception_handler(NotReadyError)
    async def not_ready(_: Request, error: NotReadyError) -> Response:
        return JSONAnswer({"error": str(error), "preparing": True}, 503, {"retry-after": "1"})

    @app.exception_handler(BilexError)
    async def bilex_error(_: Request, error: BilexError) -> Response:
        return JSONAnswer({"error": str(error)}, 404 if isinstance(error, TableError) else 400)

    @app.exception_handler(HTTPException)
    async def http_error(_: Request, error: HTTPException) -> Response:
        return JSONAnswer({"error": error.detail}, error.status_code)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return JSONAnswer({"error": f"{where}: {first['msg']}".encode(errors="replace").decode()}, 422)
