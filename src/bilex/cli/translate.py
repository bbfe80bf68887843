"""bilex translate, bilex induce, bilex export."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.cli.explore import CORRECTIONS, counted_decisions, open_corrections
from bilex.cli.unknown import about_unknown
from bilex.errors import ExplorerError
from bilex.io import standard
from bilex.io.dictionary import ASCII_SPACE
from bilex.io.entries import FORMATS, SUFFIXES, UNKNOWN_LANGUAGE, files_of, fitting, is_language_code, write_entries
from bilex.io.standard import STDOUT
from bilex.retrieval.sides import Sides

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from bilex.alignment import Alignment, Translation
    from bilex.entry import Entry
    from bilex.retrieval import Retrieval
    from bilex.retrieval.sides import Direction
    from bilex.run.corrections import Corrections

ALTERNATIVES = 5
"""Candidates that a sheet for a review shows beside a translation."""
BATCH = 512


@click.command()
@click.argument("run", type=options.RunPath)
@click.argument("words", nargs=-1, metavar="[WORD ... | -]")
@click.option("-n", type=click.IntRange(min=1), default=5, show_default=True, help="Translations per word.")
@options.direction
@options.retrieval
@options.vectors_only
@options.device
@options.as_json
@click.pass_context
def translate(
    ctx: click.Context,
    run: Path,
    words: tuple[str, ...],
    n: int,
    direction: Direction,
    retrieval: str,
    k: int,
    beta: float,
    vectors_only: bool,
    device: str,
    as_json: bool,
) -> None:
    """Translate WORDs. Without a WORD, or with -, read one word per line from standard input; at a terminal, prompt.

    Standard input is UTF-8. A word that is not in the table gets a vector from its subwords, if the table has subwords
    (fastText .bin). With --json one JSON object is printed per word. The exit code is 1 if no word could be translated.

    If RUN has a second stage, the figure after a translation is the probability that a dictionary lists it, else its
    score. The last figure of a line is the probability that it lists one of these translations. The second stage is
    for words in the table, --direction forward, and csls with 10 neighbours.
    """
    from_stdin = words == ("-",) or not (words or sys.stdin.isatty())
    at_prompt = not (words or from_stdin or as_json) and sys.stdout.isatty()
    if not (words or from_stdin or at_prompt):
        raise click.UsageError("needed at least one WORD, or - to read words from standard input")
    alignment = options.load_run(run, device)
    chosen = options.make_retrieval(retrieval, k, beta)
    if at_prompt:
        _prompt(alignment, n, direction, chosen, vectors_only=vectors_only)
        return
    total = translated = 0
    for batch in _batches(_lines() if from_stdin else iter(words)):
        total += len(batch)
        with options.progress("searching") as bar:
            found = alignment.translate(
                batch, n, direction=direction, retrieval=chosen, vectors_only=vectors_only, progress=bar
            )
        for translation in found:
            translated += translation.through is not None
            _print_json(translation) if as_json else _print(translation, alignment, direction)
        sys.stdout.flush()
    if not total:
        options.say("found no word on standard input; write one word per line, or give it as WORD")
    ctx.exit(0 if translated else 1)


@click.command()
@click.argument("run", type=options.RunPath)
@click.option(
    "--mutual", is_flag=True, help="Keep a found pair only if each word is the best translation of the other."
)
@click.option("--max-rank", type=click.IntRange(min=1), help="Consider only the N most frequent words of each table.")
@click.option("-n", type=click.IntRange(min=1), default=1, show_default=True, help="Translations per word.")
@click.option("--min-score", type=float, help="Leave out found pairs with a lower score.")
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    help="Leave out found pairs that are less probable; needs a second stage.",
)
@click.option(
    "--expected-precision",
    type=click.FloatRange(0, 1),
    help="Keep the most probable found pairs, as many as have this mean probability; needs a second stage.",
)
@click.option(
    "--only-decided", is_flag=True, help="Keep only pairs that were accepted or corrected in `bilex explore`."
)
@click.option("--no-given", is_flag=True, help="Do not list the translations of RUN's own dictionary first.")
@click.option(
    "--corrections",
    type=options.FilePath,
    help=f"Decisions of `bilex explore` to apply.  [default: RUN/{CORRECTIONS}, if it exists]",
)
@click.option("--no-corrections", is_flag=True, help="Apply no decisions.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    help="Format of the file.  [default: by the suffix of --output, else tsv]",
)
@click.option(
    "--source-language", default=UNKNOWN_LANGUAGE, help="Code of the source language, for tmx, tbx and stardict."
)
@click.option(
    "--target-language", default=UNKNOWN_LANGUAGE, help="Code of the target language.  [default of both: und]"
)
@click.option("--output", type=options.OutputPath, required=True, help="File to write; - for standard output.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@options.direction
@options.retrieval
@options.vectors_only
@options.device
def induce(
    run: Path,
    mutual: bool,
    max_rank: int | None,
    n: int,
    min_score: float | None,
    min_confidence: float | None,
    expected_precision: float | None,
    only_decided: bool,
    no_given: bool,
    corrections: Path | None,
    no_corrections: bool,
    kind: str | None,
    source_language: str,
    target_language: str,
    output: Path,
    force: bool,
    direction: Direction,
    retrieval: str,
    k: int,
    beta: float,
    vectors_only: bool,
    device: str,
) -> None:
    """Write the whole lexicon: every source word with its translations.

    For each word, the pairs that were accepted or corrected in `bilex explore` come first, then those of the dictionary
    of RUN, then those found by the vectors, best first. Options that limit the pairs apply only to found pairs.
    Rejected pairs are left out. Words that are not in the table come last; --max-rank leaves them out.

    xlsx is for a review: a person fills its column of decisions, and `bilex explore RUN --import FILE` stores them.
    tsv has the columns source, target, score, rank, origin (accepted, corrected, given, found), and can be used as
    `bilex align --train`. jsonl has the same as JSON lines. tmx (1.4b) and tbx
    (TBX-Basic) are for translation tools. stardict is for
    dictionary programs: NAME.ifo with NAME.idx and NAME.dict. A pair has no score if one of its words has no vector.

    If RUN has a second stage, found pairs have a confidence, the probability that a dictionary lists them, and
    any_right, the probability that it lists any of the candidates that were ranked for the word (both in tsv and
    jsonl). -n is then the largest number of translations: a further translation is left out if it is improbable.
    """
    if mutual and n != 1:
        raise click.UsageError("--mutual keeps one found translation per word; leave out -n")
    if corrections is not None and no_corrections:
        raise click.UsageError("--corrections and --no-corrections contradict each other; leave out one of them")
    if only_decided and no_corrections:
        raise click.UsageError("--only-decided keeps what --no-corrections leaves out; leave out one of them")
    kind = kind or SUFFIXES.get(output.suffix, "tsv")
    if kind == "stardict" and output.suffix != ".ifo":
        raise click.UsageError("--format stardict writes three files; give --output a name that ends in .ifo")
    if kind == "xlsx" and output == STDOUT:
        raise click.UsageError("--format xlsx writes a file; name it with --output")
    languages = _languages(source_language, target_language, direction)
    for path in files_of(output, kind):
        options.check_free(path, force=force)
    decisions = None if no_corrections else _decisions(run, corrections)
    if only_decided and (decisions is None or not decisions.judged()[0]):
        raise ExplorerError(f"no pair was accepted or corrected yet; make decisions with bilex explore {run}")
    alignment = options.load_run(run, device)
    chosen = options.make_retrieval(retrieval, k, beta)
    with options.progress("searching") as bar:
        entries = alignment.induce(
            n=n,
            mutual=mutual,
            max_rank=max_rank,
            direction=direction,
            given=not no_given,
            min_confidence=min_confidence,
            expected_precision=expected_precision,
            retrieval=chosen,
            vectors_only=vectors_only,
            progress=bar,
        )
    if min_score is not None:
        entries = [entry for entry in entries if entry.origin != "found" or entry.score >= min_score]
    refused: set[tuple[str, ...]] = set()
    if decisions is not None:
        step = 1 if direction == "forward" else -1
        refused = {pair[::step] for pair in decisions.judged()[1]}
        entries = _corrected(alignment, entries, decisions, n, direction, chosen)
    if only_decided:
        entries = [entry for entry in entries if entry.is_decided]
    others = _alternatives(alignment, entries, refused, direction, chosen) if kind == "xlsx" else {}
    backward = direction == "backward"
    if left_out := write_entries(output, entries, kind, languages, alternatives=others, backward=backward):
        options.say(f"{left_out:,} pairs were left out, because {kind} cannot store their words")
    options.say(_written(fitting(entries, kind), output))


@click.command()
@click.argument("run", type=options.RunPath)
@click.option("--source", type=options.OutputPath, help="File for the mapped source vectors.")
@click.option("--target", type=options.OutputPath, help="File for the mapped target vectors.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@options.device
def export(run: Path, source: Path | None, target: Path | None, force: bool, device: str) -> None:
    """Write the mapped vectors, of length 1. The suffix of each file sets its format (see `bilex convert`)."""
    paths = [path for path in (source, target) if path is not None]
    if not paths:
        raise click.UsageError("needed --source FILE, --target FILE, or both")
    for path in paths:
        options.check_free(path, force=force)
    options.load_run(run, device).export(source, target)
    options.say(*(f"written to {path}" for path in paths))


def _languages(source: str, target: str, direction: Direction) -> tuple[str, str]:
    """The codes of the languages translated from and to."""
    for code in (source, target):
        if not is_language_code(code):
            raise click.BadParameter(f"found {code!r}; needed a code such as en, pt-BR or zh-Hans")
    return Sides(source, target).along(direction)


def _decisions(run: Path, file: Path | None) -> Corrections | None:
    """The decisions of the file, or those of the run if there are any; prints how many."""
    if file is None and not (run / CORRECTIONS).is_file():
        return None
    decisions = open_corrections(file or run / CORRECTIONS, run)
    if file is None and not any(decisions.counts().values()):
        decisions.close()
        return None
    hint = "" if file else " (--no-corrections leaves them out)"
    options.say(f"with the decisions in {decisions.path}: {counted_decisions(decisions.counts())}{hint}")
    return decisions


def _corrected(
    alignment: Alignment,
    entries: list[Entry],
    decisions: Corrections,
    n: int,
    direction: Direction,
    retrieval: Retrieval,
) -> list[Entry]:
    from bilex.run.corrected import corrected
    from bilex.run.given import scored

    with closing(decisions):
        entries = corrected(entries, decisions, n=n, direction=direction)
    return scored(alignment, entries, direction=direction, retrieval=retrieval)


def _alternatives(
    alignment: Alignment,
    entries: list[Entry],
    refused: Collection[tuple[str, ...]],
    direction: Direction,
    retrieval: Retrieval,
) -> dict[str, list[str]]:
    """The best candidates of each source word that has a vector, without refused ones."""
    table = alignment.tables.along(direction).source
    words = [word for word in dict.fromkeys(entry.source for entry in entries) if word in table]
    with options.progress("alternatives") as bar:
        found = alignment.translate(words, ALTERNATIVES + 1, direction=direction, retrieval=retrieval, progress=bar)
    return {
        one.word: [candidate.word for candidate in one.candidates if (one.word, candidate.word) not in refused]
        for one in found
    }


def _written(entries: Sequence[Entry], output: Path) -> str:
    """How many pairs were written, by origin unless all were found."""
    from bilex.entry import ORIGINS

    counts = Counter(entry.origin for entry in entries)
    parts = ", ".join(f"{counts[origin]:,} {origin}" for origin in ORIGINS if counts[origin])
    where = "standard output" if output == STDOUT else output
    rated = [entry.confidence for entry in entries if entry.origin == "found" and not math.isnan(entry.confidence)]
    expected = f"; {sum(rated) / len(rated):.0%} of the found ones are expected to be right" if rated else ""
    return f"{len(entries):,} pairs written to {where}{'' if set(counts) <= {'found'} else f': {parts}'}{expected}"


def _lines() -> Iterator[str]:
    for line in standard.lines():
        if word := line.strip(ASCII_SPACE):
            yield word


def _batches(words: Iterator[str]) -> Iterator[list[str]]:
    """Large batches from a pipe; word by word at a terminal."""
    size = 1 if sys.stdin.isatty() else BATCH
    while batch := list(itertools.islice(words, size)):
        yield batch


def _prompt(alignment: Alignment, n: int, direction: Direction, retrieval: Retrieval, *, vectors_only: bool) -> None:
    from bilex.cli.prompt import Session, run_prompt

    def translate(word: str, n: int, direction: Direction) -> Translation:
        return alignment.translate(word, n, direction=direction, retrieval=retrieval, vectors_only=vectors_only)

    run_prompt(Session(alignment, n, direction, translate, _print_at_prompt))


def _print_json(translation: Translation) -> None:
    confidences = [{"confidence": round(p, 4)} for p in translation.confidences] or [{}] * len(translation.candidates)
    any_right = {} if translation.any_right is None else {"any_right": round(translation.any_right, 4)}
    options.print_json(
        {
            "word": translation.word,
            "through": translation.through,
            **any_right,
            "candidates": [
                {"word": c.word, "score": round(c.score, 6), **more}
                for c, more in zip(translation.candidates, confidences, strict=True)
            ],
        }
    )


def _print(translation: Translation, alignment: Alignment, direction: Direction, *, turn: str | None = None) -> None:
    if translation.through is None:
        options.say(about_unknown(translation.word, alignment, direction, turn=turn))
        return
    note = " (through subwords)" if translation.through == "subwords" else ""
    found = (f"{c.word} {figure}" for c, figure in zip(translation.candidates, translation.figures, strict=True))
    together: list[str] = []
    if translation.any_right is not None and len(translation.candidates) > 1:
        together = [f"one of these {100 * translation.any_right:.0f} %"]
    standard.write(["\t".join([f"{translation.word}{note}", *found, *together]), "\n"])


_print_at_prompt = functools.partial(_print, turn=":swap")
