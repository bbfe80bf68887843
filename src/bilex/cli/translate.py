"""bilex translate, bilex induce, bilex export."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.io.dictionary import written_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.alignment import Alignment, Entry, Translation
    from bilex.retrieval.base import Direction

BATCH = 512


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
    """Translate WORDs, or the lines of standard input if the only WORD is -.

    A word that is not in the table gets a vector from its subwords, where the table has them (fastText .bin). With
    --json one JSON object is printed per word. The exit code is 1 if no word could be translated.
    """
    if not words:
        raise click.UsageError("needed at least one WORD, or - to read words from standard input")
    alignment = options.load_run(run, device)
    chosen = options.make_retrieval(retrieval, k, beta)
    known = 0
    for batch in _batches(_lines() if words == ("-",) else iter(words)):
        with options.progress("searching") as bar:
            found = alignment.translate(batch, n, direction=direction, retrieval=chosen, progress=bar)
        for translation in found:
            known += translation.through is not None
            _print_json(translation) if as_json else _print(translation, alignment, direction)
        sys.stdout.flush()
    ctx.exit(0 if known else 1)


@click.command()
@click.argument("run", type=options.RunPath)
@click.option("--mutual", is_flag=True, help="Keep only pairs of which each word is the other's best translation.")
@click.option("--max-rank", type=click.IntRange(min=1), help="Consider only the N most frequent words of each table.")
@click.option("-n", type=click.IntRange(min=1), default=1, show_default=True, help="Translations per word.")
@click.option("--min-score", type=float, help="Leave out pairs with a lower score.")
@click.option(
    "--format", "kind", type=click.Choice(["tsv", "jsonl"]), default="tsv", show_default=True, help="What to write."
)
@click.option("--output", type=options.FilePath, required=True, help="File to write; - for standard output.")
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
    kind: str,
    output: Path,
    force: bool,
    direction: Direction,
    retrieval: str,
    k: int,
    beta: float,
    device: str,
) -> None:
    """Write the whole lexicon: every source word with its translations, best first.

    The tsv form has the columns source, target, score, rank, and is read by `bilex align --train`.
    """
    if mutual and n != 1:
        raise click.UsageError("--mutual keeps one translation per word: leave -n out")
    options.check_free(output, force=force)
    alignment = options.load_run(run, device)
    chosen = options.make_retrieval(retrieval, k, beta)
    with options.progress("searching") as bar:
        entries = alignment.induce(
            n=n, mutual=mutual, max_rank=max_rank, direction=direction, retrieval=chosen, progress=bar
        )
    kept = [entry for entry in entries if min_score is None or entry.score >= min_score]
    write_entries(output, kept, kind)
    options.say(f"{len(kept):,} pairs written to {'standard output' if output == Path('-') else output}")


@click.command()
@click.argument("run", type=options.RunPath)
@click.option("--source", type=options.FilePath, help="File for the mapped source vectors.")
@click.option("--target", type=options.FilePath, help="File for the mapped target vectors.")
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


def _lines() -> Iterator[str]:
    for line in sys.stdin:
        if word := line.strip("\r\n"):
            yield word


def _batches(words: Iterator[str]) -> Iterator[list[str]]:
    """All at once when piped; word by word for a person at a terminal."""
    size = 1 if sys.stdin.isatty() else BATCH
    while batch := list(itertools.islice(words, size)):
        yield batch


def _print_json(translation: Translation) -> None:
    options.print_json(
        {
            "word": translation.word,
            "through": translation.through,
            "candidates": [{"word": c.word, "score": round(c.score, 6)} for c in translation.candidates],
        }
    )


def _print(translation: Translation, alignment: Alignment, direction: Direction) -> None:
    word = translation.word
    if translation.through is None:
        table = alignment.source if direction == "forward" else alignment.target
        other = next((w for w in (word.lower(), word.capitalize(), word.upper()) if w != word and w in table), None)
        hint = f"; {other!r} is" if other else ""
        options.say(f"{word}: not in the table of {len(table):,} words{hint}")
        return
    note = " (through subwords)" if translation.through == "subwords" else ""
    click.echo(f"{word}{note}\t" + "\t".join(f"{c.word} {c.score:.3f}" for c in translation.candidates))


def write_entries(path: Path, entries: list[Entry], kind: str) -> None:
    """Write a lexicon as tsv or jsonl, to standard output if the path is -."""
    lines = _tsv(entries) if kind == "tsv" else _jsonl(entries)
    if path == Path("-"):
        sys.stdout.writelines(lines)
        return
    from bilex.files import replacing

    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def _tsv(entries: list[Entry]) -> Iterator[str]:
    yield "# source\ttarget\tscore\trank\n"
    for number, entry in enumerate(entries, 1):
        yield written_line(number, entry.source, entry.target, f"{entry.score:.6f}", str(entry.rank))


def _jsonl(entries: list[Entry]) -> Iterator[str]:
    for entry in entries:
        yield json.dumps({**entry._asdict(), "score": round(entry.score, 6)}, ensure_ascii=False) + "\n"
