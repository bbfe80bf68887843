"""The tables of a report on a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex.page.tables import EMPTY, Row, Table, row
from bilex.report.citation import licences
from bilex.report.figures import mrr_interval, p_at_1_interval
from bilex.retrieval.sides import SIDES
from bilex.storage.files import file_name
from bilex.storage.strict_json import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bilex.alignment import Alignment
    from bilex.coverage import LexiconIndex
    from bilex.evaluation.hubness import Hubness
    from bilex.evaluation.precision import Evaluation
    from bilex.evaluation.significance import Interval
    from bilex.report.examples import Example
    from bilex.report.figures import Figures

HASH_DIGITS = 16
MISSING = 12
"""Missing words shown of each dictionary."""
NAMES = {"csls": "CSLS", "nn": "nearest neighbour"}


def score_table(measured: Sequence[Figures]) -> Table:
    """Figures on each dictionary by both kinds of retrieval."""
    rows = [_scores(figures.part, result) for figures in measured for result in (figures.csls, figures.nearest)]
    header = ("dictionary", "retrieval", "P@1", "95 %", "P@5", "P@10", "MRR", "95 %", "covered", "P@1, all")
    notes = (
        "P@n: per cent of the covered source words with a right translation among the n best; the last column counts "
        "source words that the tables do not cover as not found. 95 %: bootstrap confidence interval over the words. "
        "It shows how much the figure would vary with other words of the same kind; with few words it is too narrow.",
    )
    return Table("scores", "Figures", header, tuple(rows), notes, left=2)


def band_table(figures: Figures) -> Table:
    """P@1 by frequency."""
    rows = [
        row(
            f"{band.first + 1:,}-{band.last + 1:,}",
            band.covered,
            f"{band.scores.p_at_1:.1f}",
            _show(figures.band_interval(band)),
            f"{band.scores.p_at_5:.1f}",
            f"{band.scores.mrr:.3f}",
        )
        for band in figures.csls.bands
    ]
    note = "Rows of the source table, the most frequent words first; CSLS."
    header = ("rows", "words", "P@1", "95 %", "P@5", "MRR")
    return Table("bands", f"Frequent and rare words ({figures.part})", header, tuple(rows), (note,))


def hubness_table(found: dict[str, Hubness], words: Sequence[str]) -> Table:
    """Hubs before (nearest neighbours) and after (CSLS)."""
    rows = [
        row(
            NAMES[name],
            ", ".join(f"{words[place]} ({count})" for place, count in hubs.hubs[:5]),
            f"{hubs.skewness:.2f}",
            hubs.largest,
            f"{hubs.never:.1f}",
        )
        for name, hubs in found.items()
    ]
    note = (
        "A hub is a target word that is among the 10 best of many source words; their number is in brackets. Skewness "
        "0 means no hubs. CSLS reduces hubs; the rest are often names, numbers and rare words with poor vectors."
    )
    header = ("retrieval", "greatest hubs", "skewness", "largest", "% never retrieved")
    return Table("hubness", "Hubs", header, tuple(rows), (note,), left=2)


def example_table(name: str, title: str, examples: Sequence[Example], note: str) -> Table:
    """Examples to check by hand."""
    rows = [
        row(e.word, ", ".join(e.answers), ", ".join(e.gold), f"{e.score:.3f}", f"{e.rank:,}")  # the words, then numbers
        for e in examples
    ]
    header = ("word", "answers, best first", "dictionary", "score", "rank of the dictionary's")
    return Table(name, title, header, tuple(rows), (note,) if note else (), left=3)


def aligned_table(alignment: Alignment, test: Figures | None) -> Table:
    """The two tables and the dictionaries."""
    inputs = alignment.provenance["inputs"]
    rows = [_table(part, inputs[part]) for part in SIDES]
    rows += [_dictionary("train", inputs["train"], len(alignment.train))]
    if alignment.dev is not None:
        rows += [_dictionary("dev", inputs["dev"] or {}, len(alignment.dev))]
    if test is not None:
        rows += [_dictionary("test", {"file": str(test.lexicon.origin or "")}, len(test.lexicon))]
    notes = [f"Protocol: {alignment.provenance['protocol']}."]
    if inputs.get("spelling"):
        notes += [f"Words spelt alike in both tables ({inputs['spelling']}) were trained on as well."]
    return Table("aligned", "What was aligned", ("part", "file", "size"), tuple(rows), tuple(notes), left=3)


def settings_table(inputs: dict[str, Any]) -> Table:
    """The method's settings."""
    rows = [row(name, to_json(value)) for name, value in inputs["settings"].items()]
    rows += [row("rng_seed", inputs["rng_seed"])]
    return Table("settings", f"Settings of {inputs['method']}", ("setting", "value"), tuple(rows), left=2)


def coverage_table(found: dict[str, LexiconIndex]) -> Table:
    """How much of each dictionary the tables cover."""
    rows = [
        row(
            part,
            _examples((*index.missing_both.words, *index.missing_source.words, *index.missing_target.words)),
            f"{index.pairs_total:,}",
            f"{index.pairs_covered:,}",
            index.missing_source.pairs,
            index.missing_target.pairs,
            index.missing_both.pairs,
            f"{index.sources_covered:,} of {index.sources_total:,}",
        )
        for part, index in found.items()
    ]
    header = ("dictionary", "missing words", "pairs", "in both tables", "no source", "no target", "neither", "sources")
    note = (
        "A pair is used only if both of its words have vectors. Dictionaries are counted as the method received them."
    )
    return Table("coverage", "Coverage", header, tuple(rows), (note,), left=2)


def licence_table(files: dict[str, str | None]) -> Table:
    """Licences of the data, as far as they are known."""
    rows = tuple(row(*found) for found in licences(files))
    return Table("licences", "Data", ("part", "file", "licence", "cite"), rows, left=4)


def versions_table(made_with: dict[str, Any]) -> Table:
    """Versions of the software that made the run."""
    rows = tuple(row(name, value) for name, value in made_with.items())
    return Table("versions", "Versions", ("software", "version"), rows, left=2)


def files_table(inputs: dict[str, Any]) -> Table:
    """Files by name and hash, without their folders."""
    parts = {part: inputs.get(part) or {} for part in ("source", "target", "train", "dev")}
    rows = [
        row(part, file_name(d["file"]), (d["sha256"] or "unknown")[:HASH_DIGITS])
        for part, d in parts.items()
        if d.get("file")
    ]
    note = f"The first {HASH_DIGITS} digits of the SHA-256 hash."
    return Table("files", "Files", ("part", "file", "SHA-256"), tuple(rows), (note,), left=3)


def _scores(part: str, result: Evaluation) -> Row:
    scores = result.scores
    return row(
        part,
        NAMES[result.retrieval],
        f"{scores.p_at_1:.1f}",
        _show(p_at_1_interval(result)),
        f"{scores.p_at_5:.1f}",
        f"{scores.p_at_10:.1f}",
        f"{scores.mrr:.3f}",
        _show(mrr_interval(result), 3),
        f"{result.covered:,} of {result.sources:,}",
        f"{result.scores_all.p_at_1:.1f}",
    )


def _table(part: str, described: dict[str, Any]) -> Row:
    return row(part, _file(described), f"{described['words']:,} words, {described['dim']} dimensions")


def _dictionary(part: str, described: dict[str, Any], used: int) -> Row:
    given = described.get("pairs", used)
    held = f" (of {given:,} given)" if given != used else ""
    return row(part, _file(described), f"{used:,} pairs{held}")


def _file(described: dict[str, Any]) -> str:
    return file_name(described["file"]) if described.get("file") else EMPTY


def _show(found: Interval, digits: int = 1) -> str:
    return f"{found.low:.{digits}f} to {found.high:.{digits}f}"


def _examples(words: Sequence[str]) -> str:
    return (", ".join(words[:MISSING]) + (", ..." if len(words) > MISSING else "")) or EMPTY
