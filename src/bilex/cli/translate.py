"""bilex translate, bilex induce, bilex export."""

from __future__ import annotations

import functools
import itertools
import re
import sys
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.cli.explore import CORRECTIONS, counted_decisions, open_corrections
from bilex.cli.unknown import about_unknown
from bilex.io import standard
from bilex.io.dictionary import ASCII_SPACE
from bilex.io.entries import FORMATS, SUFFIXES, UNKNOWN_LANGUAGE, files_of, fitting, write_entries
from bilex.io.standard import STDOUT
from bilex.retrieval.sides import Sides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bilex.alignment import Alignment, Translation
    from bilex.entry import Entry
    from bilex.retrieval import Retrieval
    from bilex.retrieval.sides import Direction
    from bilex.run.corrections import Corrections

BATCH = 512
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
"""A code as of BCP 47."""


@click.command()
@click.argument("run", type=options.RunPath)
@click.argument("words", nargs=-1, metavar="[WORD ... | -]")
@click.option("-n", type=click.IntRange(min=1), default=5, show_default=True, help="Translations per word.")
@options.direction
@options.retrieval
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
    device: str,
    as_json: bool,
) -> None:
    """Translate WORDs. Without one, or with -, the lines of standard input; at a terminal, words are asked for.

    Standard input is UTF-8. A word that is not in the table gets a vector from its subwords, where the table has them
    (fastText .bin). With --json one JSON object is printed per word. The exit code is 1 if no word could be translated.
    """
    reading = words == ("-",) or not (words or sys.stdin.isatty())
    asking = not (words or reading or as_json) and sys.stdout.isatty()
    if not (words or reading or asking):
        raise click.UsageError("needed at least one WORD, or - to read words from standard input")
    alignment = options.load_run(run, device)
    chosen = options.make_retrieval(retrieval, k, beta)
    if asking:
        _ask(alignment, n, direction, chosen)
        return
    asked = known = 0
    for batch in _batches(_lines() if reading else iter(words)):
        asked += len(batch)
        with options.progress("searching") as bar:
            found = alignment.translate(batch, n, direction=direction, retrieval=chosen, progress=bar)
        for translation in found:
            known += translation.through is not None
            _print_json(translation) if as_json else _print(translation, alignment, direction)
        sys.stdout.flush()
    if not asked:
        options.say("found no word on standard input; write a word on each line, or give it as WORD")
    ctx.exit(0 if known else 1)


@click.command()
@click.argument("run", type=options.RunPath)
@click.option("--mutual", is_flag=True, help="Keep found pairs only where each word is the other's best translation.")
@click.option("--max-rank", type=click.IntRange(min=1), help="Consider only the N most frequent words of each table.")
@click.option("-n", type=click.IntRange(min=1), default=1, show_default=True, help="Translations per word.")
@click.option("--min-score", type=float, help="Leave out found pairs with a lower score.")
@click.option("--no-given", is_flag=True, help="Do not put the translations of RUN's own dictionary first.")
@click.option(
    "--corrections",
    type=options.FilePath,
    help=f"Decisions of `bilex explore` to put in.  [default: RUN/{CORRECTIONS}, if it is there]",
)
@click.option("--no-corrections", is_flag=True, help="Put no decisions in.")
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), help="What to write.  [default: what --output ends in, else tsv]"
)
@click.option("--source-language", default=UNKNOWN_LANGUAGE, help="Code of the source language, for tmx and stardict.")
@click.option(
    "--target-language", default=UNKNOWN_LANGUAGE, help="Code of the target language.  [default of both: und]"
)
@click.option("--output", type=options.OutputPath, required=True, help="File to write; - for standard output.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@options.direction
@options.retrieval
@options.device
def induce(
    run: Path,
    mutual: bool,
    max_rank: int | None,
    n: int,
    min_score: float | None,
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
    device: str,
) -> None:
    """Write the whole lexicon: every source word with its translations.

    First comes what was accepted or corrected in `bilex explore`, then what the dictionary of RUN gives, then what the
    vectors find, best first. All of the first two are there, also with --mutual and --min-score and if they are more
    than -n; words that the table does not have come last, and --max-rank leaves them out. What was rejected is left
    out.

    tsv has the columns source, target, score, rank, origin (accepted, corrected, given, found), and is read by `bilex
    align --train`; jsonl has the same in JSON lines; tmx (1.4b) is for translation tools, stardict for dictionary
    programs: NAME.ifo with NAME.idx and NAME.dict. A pair has no score if a word of it has no vector.
    """
    if mutual and n != 1:
        raise click.UsageError("--mutual keeps one found translation per word: leave -n out")
    if corrections is not None and no_corrections:
        raise click.UsageError("--corrections and --no-corrections exclude each other")
    kind = kind or SUFFIXES.get(output.suffix, "tsv")
    if kind == "stardict" and output.suffix != ".ifo":
        raise click.UsageError("--format stardict writes three files: give --output a name that ends in .ifo")
    languages = _languages(source_language, target_language, direction)
    for path in files_of(output, kind):
        options.check_free(path, force=force)
    decided = None if no_corrections else _decisions(run, corrections)
    alignment = options.load_run(run, device)
    chosen = options.make_retrieval(retrieval, k, beta)
    with options.progress("searching") as bar:
        entries = alignment.induce(
            n=n,
            mutual=mutual,
            max_rank=max_rank,
            direction=direction,
            given=not no_given,
            retrieval=chosen,
            progress=bar,
        )
    if min_score is not None:
        entries = [entry for entry in entries if entry.origin != "found" or entry.score >= min_score]
    if decided is not None:
        entries = _corrected(alignment, entries, decided, n, direction, chosen)
    if left_out := write_entries(output, entries, kind, languages):
        options.say(f"{left_out:,} pairs left out: {kind} cannot hold their words")
    options.say(_written(fitting(entries, kind), output))


@click.command()
@click.argument("run", type=options.RunPath)
@click.option("--source", type=options.OutputPath, help="File for the mapped source vectors.")
@click.option("--target", type=options.OutputPath, help="File for the mapped target vectors.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@options.device
def export(run: Path, source: Path | None, target: Path | None, force: bool, device: str) -> None:
    """Write the mapped vectors, of length 1, in the format that each file's suffix names (see `bilex convert`)."""
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
        if not LANGUAGE.fullmatch(code):
            raise click.BadParameter(f"found {code!r}; needed a code such as en, pt-BR or zh-Hans")
    return Sides(source, target).along(direction)


def _decisions(run: Path, file: Path | None) -> Corrections | None:
    """Those of the file, or those of the run, if there are any; says how many."""
    if file is None and not (run / CORRECTIONS).is_file():
        return None
    decided = open_corrections(file or run / CORRECTIONS, run)
    if file is None and not any(decided.counts().values()):
        decided.close()
        return None
    way = "" if file else " (--no-corrections leaves them out)"
    options.say(f"with the decisions in {decided.path}: {counted_decisions(decided.counts())}{way}")
    return decided


def _corrected(
    alignment: Alignment,
    entries: list[Entry],
    decided: Corrections,
    n: int,
    direction: Direction,
    retrieval: Retrieval,
) -> list[Entry]:
    from bilex.run.corrected import corrected
    from bilex.run.given import scored

    with closing(decided):
        entries = corrected(entries, decided, n=n, direction=direction)
    return scored(alignment, entries, direction=direction, retrieval=retrieval)


def _written(entries: Sequence[Entry], output: Path) -> str:
    """How many pairs were written, and how many of them come from where, if not all were found."""
    from bilex.entry import ORIGINS

    counts = Counter(entry.origin for entry in entries)
    parts = ", ".join(f"{counts[origin]:,} {origin}" for origin in ORIGINS if counts[origin])
    where = "standard output" if output == STDOUT else output
    return f"{len(entries):,} pairs written to {where}{'' if set(counts) <= {'found'} else f': {parts}'}"


def _lines() -> Iterator[str]:
    for line in standard.lines():
        if word := line.strip(ASCII_SPACE):
            yield word


def _batches(words: Iterator[str]) -> Iterator[list[str]]:
    """All at once when piped; word by word for a person at a terminal."""
    size = 1 if sys.stdin.isatty() else BATCH
    while batch := list(itertools.islice(words, size)):
        yield batch


def _ask(alignment: Alignment, n: int, direction: Direction, retrieval: Retrieval) -> None:
    from bilex.cli.prompt import Session, converse

    def translate(word: str, n: int, direction: Direction) -> Translation:
        return alignment.translate(word, n, direction=direction, retrieval=retrieval)

    converse(Session(alignment, n, direction, translate, _print_at_prompt))


def _print_json(translation: Translation) -> None:
    options.print_json(
        {
            "word": translation.word,
            "through": translation.through,
            "candidates": [{"word": c.word, "score": round(c.score, 6)} for c in translation.candidates],
        }
    )


def _print(translation: Translation, alignment: Alignment, direction: Direction, *, turn: str | None = None) -> None:
    if translation.through is None:
        options.say(about_unknown(translation.word, alignment, direction, turn=turn))
        return
    note = " (through subwords)" if translation.through == "subwords" else ""
    found = (f"{candidate.word} {candidate.score:.3f}" for candidate in translation.candidates)
    standard.write(["\t".join([f"{translation.word}{note}", *found]), "\n"])


_print_at_prompt = functools.partial(_print, turn=":swap")
