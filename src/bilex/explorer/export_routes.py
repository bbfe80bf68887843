"""What can be downloaded: the lexicon in every format, dictionaries for an alignment, and the file of decisions."""

from __future__ import annotations

import re
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import Response

from bilex.io.dictionary import format_line
from bilex.io.entries import UNKNOWN_LANGUAGE, Format, files_of, is_language_code, write_entries
from bilex.retrieval.sides import SIDES

if TYPE_CHECKING:
    from bilex.entry import Entry
    from bilex.explorer.explorer import Explorer

ExportKind = Literal["corrections", "dictionary", "lexicon", "decisions"]
Language = Annotated[str, Query(max_length=40)]
ALTERNATIVES = 5
"""Candidates beside a translation in a sheet."""
MAX_STEM_LENGTH = 60
TSV, SQLITE, ANY = "text/tab-separated-values; charset=utf-8", "application/vnd.sqlite3", "application/octet-stream"


def export_routes(explorer: Explorer) -> APIRouter:
    """The routes for a run."""
    router = APIRouter(prefix="/api")

    @router.get("/export")
    def export(what: ExportKind = "corrections") -> Response:
        if what == "decisions":
            return _file(_copy(explorer), f"{what}.sqlite", SQLITE)
        if what == "lexicon":
            return lexicon()
        pairs = explorer.corrections.lexicon(explorer.alignment.dictionary if what == "dictionary" else None)
        lines = "".join(format_line(number, *pair) for number, pair in enumerate(pairs, 1))
        return _file(lines.encode(), f"{what}.tsv", TSV)

    @router.get("/export/lexicon")
    def lexicon(
        kind: Annotated[Format, Query(alias="format")] = "tsv",
        decided: bool = False,
        source_language: Language = UNKNOWN_LANGUAGE,
        target_language: Language = UNKNOWN_LANGUAGE,
    ) -> Response:
        """The lexicon. decided: only pairs that were accepted or corrected. StarDict is an archive of its files."""
        for code in (source_language, target_language):
            if not is_language_code(code):
                raise HTTPException(422, f"found the language code {code!r}; needed one such as en, pt-BR or zh-Hans")
        entries = explorer.lexicon()
        if decided:
            entries = [entry for entry in entries if entry.is_decided]
        if decided and not entries:
            raise HTTPException(404, "no pair was accepted or corrected yet")
        return lexicon_file(explorer, entries, kind, (source_language, target_language))

    return router


def lexicon_file(explorer: Explorer, entries: list[Entry], kind: Format, languages: tuple[str, str]) -> Response:
    """The lexicon as a file. A header of the response tells how many pairs the format could not hold."""
    alternatives = _alternatives(explorer, entries) if kind == "xlsx" else None
    with tempfile.TemporaryDirectory(prefix="bilex-") as folder:
        path = Path(folder) / f"{_stem(explorer)}.{'ifo' if kind == 'stardict' else kind}"
        left_out = write_entries(path, entries, kind, languages, alternatives=alternatives)
        content = _archive(files_of(path, kind)) if kind == "stardict" else path.read_bytes()
    answer = _file(content, f"lexicon.{'zip' if kind == 'stardict' else kind}", TSV if kind == "tsv" else ANY)
    answer.headers["x-left-out"] = str(left_out)
    return answer


def _alternatives(explorer: Explorer, entries: list[Entry]) -> dict[str, list[str]]:
    """The best found candidates of the source words that have a vector, without refused ones."""
    refused, words = explorer.corrections.judged()[1], explorer.table("target").words
    rows = explorer.table("source").index
    return {
        source: [word for word in map(words.__getitem__, found) if (source, word) not in refused][: ALTERNATIVES + 1]
        for source in dict.fromkeys(entry.source for entry in entries)
        if source in rows and (found := explorer.entries.found[rows[source]].tolist())
    }


def _stem(explorer: Explorer) -> str:
    """The name that a dictionary program shows: the languages, in characters that every file system allows."""
    names = explorer.names()
    return re.sub(r"[^\w-]+", "_", "-".join(names[side] for side in SIDES))[:MAX_STEM_LENGTH]


def _archive(paths: list[Path]) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.write(path, path.name)
    return content.getvalue()


def _copy(explorer: Explorer) -> bytes:
    """All decisions with who made them and when, as a file to hand to another person."""
    with tempfile.TemporaryDirectory(prefix="bilex-") as folder:
        path = Path(folder) / "decisions.sqlite"
        explorer.corrections.copy_to(path)
        return path.read_bytes()


def _file(content: bytes, name: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
