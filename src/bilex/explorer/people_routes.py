"""Routes of several people: who has decided what, merge a file, conflicts."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request

from bilex.errors import ExplorerError
from bilex.explorer.answer import JSONAnswer
from bilex.explorer.views import decided_view, decision_view
from bilex.run.corrections import Corrections
from bilex.run.decision import MAX_NAME_LENGTH
from bilex.run.merging import Agreement, Conflict, Merged, agreements, conflicts, merge, reviewer_counts

if TYPE_CHECKING:
    from bilex.explorer.explorer import Explorer

MAX_CONFLICTS = 200
"""Conflicts listed at once."""


def people_routes(explorer: Explorer) -> APIRouter:
    """The routes for a run."""
    router = APIRouter(prefix="/api")

    @router.get("/people")
    def people() -> JSONAnswer:
        return JSONAnswer(people_view(explorer.corrections))

    @router.post("/merge")
    async def add_file(
        request: Request, name: Annotated[str, Query(min_length=1, max_length=MAX_NAME_LENGTH)]
    ) -> JSONAnswer:
        content = await request.body()
        merged = await asyncio.to_thread(merge_content, explorer.corrections, content, name)
        return JSONAnswer({**merged._asdict(), "decided": decided_view(explorer)})

    return router


def people_view(corrections: Corrections) -> dict[str, Any]:
    """Who has decided how many pairs, where they differ, and how far each two of them agree."""
    decisions = corrections.of_reviewers()
    open_conflicts = conflicts(decisions)
    return {
        "reviewers": [
            {"name": name, "counts": counts, "last": last} for name, counts, last in reviewer_counts(decisions)
        ],
        "agreements": [_agreement_view(agreement) for agreement in agreements(decisions)],
        "conflicts": [_conflict_view(conflict) for conflict in open_conflicts[:MAX_CONFLICTS]],
        "conflict_count": len(open_conflicts),
    }


def merge_content(corrections: Corrections, content: bytes, name: str) -> Merged:
    """Merge the content of another file of decisions. It is checked like every file of a stranger."""
    with tempfile.TemporaryDirectory(prefix="bilex-") as folder:
        path = Path(folder) / "decisions.sqlite"
        path.write_bytes(content)
        try:
            with closing(Corrections(path, reading=True)) as other:
                return merge(corrections, other, name)
        except ExplorerError as error:
            raise ExplorerError(str(error).replace(str(path), name)) from None


def _agreement_view(agreement: Agreement) -> dict[str, Any]:
    return {
        "reviewers": agreement.reviewers,
        "words": agreement.words,
        "same": agreement.same,
        "kappa": agreement.kappa,
    }


def _conflict_view(conflict: Conflict) -> dict[str, Any]:
    decisions = [{**(decision_view(d) or {}), "merged": d.merged} for d in conflict.decisions]
    return {"source": conflict.source, "suggestion": conflict.suggestion, "decisions": decisions}
