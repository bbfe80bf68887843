"""Routes of the evidence: examples of a word and of its candidates in the corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query

from bilex.explorer.answer import JSONAnswer
from bilex.explorer.corpus import found_view
from bilex.retrieval.sides import Side, other
from bilex.run.decision import MAX_WORD_LENGTH

if TYPE_CHECKING:
    from bilex.explorer.explorer import Explorer

MAX_CANDIDATES = 12
Word = Annotated[str, Query(min_length=1, max_length=MAX_WORD_LENGTH)]


def evidence_routes(explorer: Explorer) -> APIRouter:
    """The routes for a run. They are plain functions, which run in threads, as the search may read from the disk."""
    router = APIRouter(prefix="/api")

    @router.get("/examples")
    def examples(
        word: Word,
        side: Side,
        candidate: Annotated[list[str], Query(max_length=MAX_CANDIDATES)] = [],  # noqa: B006 (FastAPI copies it)
        n: Annotated[int, Query(ge=1, le=10)] = 3,
    ) -> JSONAnswer:
        texts = [text[:MAX_WORD_LENGTH] for text in candidate]
        return JSONAnswer(
            {
                "word": view(side, word, n),
                "candidates": [view(other(side), text, n) for text in texts],
                "corpora": {name: name in explorer.corpora for name in ("source", "target")},
            }
        )

    def view(side: Side, word: str, n: int) -> dict[str, Any] | None:
        corpus = explorer.corpora.get(side)
        return None if corpus is None else found_view(word, corpus.examples(word, n))

    return router
