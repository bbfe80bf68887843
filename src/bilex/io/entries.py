"""Writers of induced lexicons: TSV, JSON lines, TMX, TBX, StarDict, and .xlsx for a review."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Literal, get_args

from bilex.io import standard
from bilex.io.dictionary import LEXICON_HEADING, format_line, is_writable
from bilex.io.sheets.review_writer import fits_xlsx, write_review_sheet
from bilex.io.standard import STDOUT
from bilex.io.stardict import fits_stardict, stardict_files, write_stardict
from bilex.io.tbx import tbx_lines
from bilex.io.tmx import fits_tmx, tmx_lines
from bilex.storage.files import atomic_write
from bilex.storage.strict_json import to_json
from bilex.text.printable import printable_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from bilex.entry import Entry

Format = Literal["tsv", "jsonl", "tmx", "tbx", "stardict", "xlsx"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES = {".jsonl": "jsonl", ".tmx": "tmx", ".tbx": "tbx", ".ifo": "stardict", ".xlsx": "xlsx"}
"""Format by file suffix. Any other suffix means tsv."""
PROBABILITIES = ("confidence", "any_right")
"""Fields of an entry that are known if there is a second stage."""
UNKNOWN_LANGUAGE = "und"
"""Language code for an unknown language (BCP 47)."""


LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


def is_language_code(text: str) -> bool:
    """Whether the text has the form of a language code of BCP 47, such as en, pt-BR or zh-Hans."""
    return LANGUAGE.fullmatch(text) is not None


def files_of(path: Path, kind: str) -> list[Path]:
    """The files that a lexicon of this format consists of."""
    return stardict_files(path) if kind == "stardict" else [path]


def write_entries(
    path: Path,
    entries: Sequence[Entry],
    kind: str,
    languages: tuple[str, str] = (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE),
    *,
    alternatives: Mapping[str, Sequence[str]] | None = None,
    backward: bool = False,
) -> int:
    """Write a lexicon, to standard output if the path is -, and say how many pairs the format could not hold.

    languages: codes of source and target, for tmx, tbx and stardict. Of stardict, `path` is the .ifo file. For xlsx,
    alternatives are further candidates of the source words, and backward says that entries are from target to source.
    """
    kept = fitting(entries, kind)
    if kind == "stardict":
        write_stardict(path, kept, languages)
    elif kind == "xlsx":
        write_review_sheet(path, kept, alternatives or {}, backward=backward)
    else:
        xml = {"tmx": tmx_lines, "tbx": tbx_lines}.get(kind)
        _write_lines(path, _LINES[kind](kept) if xml is None else xml(kept, languages))
    return len(entries) - len(kept)


def fitting(entries: Sequence[Entry], kind: str) -> Sequence[Entry]:
    """The entries whose words the format can hold."""
    fits = {"tsv": fits_tsv, "tmx": fits_tmx, "tbx": fits_tmx, "stardict": fits_stardict, "xlsx": fits_xlsx}.get(kind)
    return entries if fits is None else [entry for entry in entries if fits(entry)]


def _write_lines(path: Path, lines: Iterator[str]) -> None:
    if path == STDOUT:
        standard.write(lines)
        return
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def fits_tsv(entry: Entry) -> bool:
    """Whether both words can be written in a tab-separated line."""
    return is_writable(entry.source) and is_writable(entry.target)


def tsv_lines(entries: Sequence[Entry]) -> Iterator[str]:
    """A lexicon as tab-separated lines. All entries must fit (`fits_tsv`). A missing number is an empty cell.

    The last columns are the probabilities that any entry has.
    """
    rated = known_probabilities(entries)
    yield LEXICON_HEADING + "\t".join(["score", "rank", "origin", *rated]) + "\n"
    for number, entry in enumerate(entries, 1):
        pair = format_line(number, entry.source, entry.target).removesuffix("\n")
        probabilities = "".join(f"\t{_cell(getattr(entry, name), 4)}" for name in rated)
        yield f"{pair}\t{_cell(entry.score, 6)}\t{entry.rank}\t{entry.origin}{probabilities}\n"


def known_probabilities(entries: Sequence[Entry]) -> list[str]:
    """The names of the probabilities that any entry has: confidence, any_right."""
    return [name for name in PROBABILITIES if not all(math.isnan(getattr(entry, name)) for entry in entries)]


def _cell(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _jsonl(entries: Sequence[Entry]) -> Iterator[str]:
    rated = known_probabilities(entries)
    for entry in entries:
        values = {name: value for name, value in entry._asdict().items() if name not in PROBABILITIES}
        values |= {"score": round(entry.score, 6)} | {name: round(getattr(entry, name), 4) for name in rated}
        yield printable_json(to_json(values)) + "\n"


_LINES = {"tsv": tsv_lines, "jsonl": _jsonl}
