"""Routes of several people: who has decided what, merge a file, conflicts, and what can be downloaded."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from bilex.errors import ExplorerError
from bilex.explorer.answer import JSONAnswer
from bilex.explorer.views import decision_view
from bilex.io.dictionary import format_line
from bilex.io.entries import fits_tsv, tsv_lines
from bilex.run.corrections import Corrections
from bilex.run.decision import MAX_NAME_LENGTH
from bilex.run.merging import Agreement, Conflict, Merged, agreements, conflicts, merge, reviewer_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.explorer.explorer import Explorer

MAX_CONFLICTS = 200
"""Conflicts listed at once."""
ExportKind = Literal["corrections", "dictionary", "lexicon", "decisions"]


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
        return JSONAnswer({**merged._asdict(), "decided": explorer.corrections.counts()})

    @router.get("/export")
    def export(what: ExportKind = "corrections") -> Response:
        if what == "decisions":
            return _file(_copy(explorer.corrections), f"{what}.sqlite", "application/vnd.sqlite3")
        content = "".join(_export_lines(explorer, what)).encode()
        return _file(content, f"{what}.tsv", "text/tab-separated-values; charset=utf-8")

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
        "pairs": agreement.pairs,
        "same": agreement.same,
        "kappa": agreement.kappa,
    }


def _conflict_view(conflict: Conflict) -> dict[str, Any]:
    decisions = [{**(decision_view(d) or {}), "merged": d.merged} for d in conflict.decisions]
    return {"source": conflict.source, "suggestion": conflict.suggestion, "decisions": decisions}


def _export_lines(explorer: Explorer, what: ExportKind) -> Iterator[str]:
    """Lines of a file: the accepted and corrected pairs, these and the run's dictionary, or the corrected lexicon."""
    if what == "lexicon":
        return tsv_lines(list(filter(fits_tsv, explorer.lexicon())))
    pairs = explorer.corrections.lexicon(explorer.alignment.dictionary if what == "dictionary" else None)
    return (format_line(number, *pair) for number, pair in enumerate(pairs, 1))


def _copy(corrections: Corrections) -> bytes:
    """All decisions with who made them and when, as a file to hand to another person."""
    with tempfile.TemporaryDirectory(prefix="bilex-") as folder:
        path = Path(folder) / "decisions.sqlite"
        corrections.copy_to(path)
        return path.read_bytes()


def _file(content: bytes, name: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
