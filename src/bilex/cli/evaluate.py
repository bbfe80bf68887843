"""bilex evaluate, bilex similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.dictionaries import format_options

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.evaluation.hubness import Hubness
    from bilex.evaluation.precision import Evaluation
    from bilex.retrieval.sides import Direction
    from bilex.table import EmbeddingTable


@click.command()
@click.argument("run", type=options.RunPath)
@click.argument("dictionary", type=options.FilePath)
@options.retrieval
@options.direction
@options.vectors_only
@click.option("--hubness", "with_hubness", is_flag=True, help="Also measure hubness over the whole tables.")
@format_options
@options.fold_case
@options.device
@options.as_json
def evaluate(
    run: Path,
    dictionary: Path,
    retrieval: str,
    k: int,
    beta: float,
    direction: Direction,
    vectors_only: bool,
    with_hubness: bool,
    fold_case: bool,
    device: str,
    as_json: bool,
    how: dict[str, Any],
) -> None:
    """Measure the alignment in RUN against DICTIONARY, whose first column is the language translated from.

    P@n is the share of source words with a right translation among the n best. The figures are given over the source
    words that the tables cover, and over all source words of the dictionary.

    If RUN has a second stage, the figures are those with it, and those of the vectors alone stand beside them.
    """
    alignment = options.load_run(run, device)
    chosen = options.make_retrieval(retrieval, k, beta)
    lexicon = options.read_lexicon(dictionary, how)
    with options.progress("searching") as bar:
        result = alignment.evaluate(
            lexicon,
            retrieval=chosen,
            direction=direction,
            fold_case=fold_case,
            vectors_only=vectors_only,
            progress=bar,
        )
        hubs = alignment.hubness(retrieval=chosen, direction=direction) if with_hubness else None
    if result.train_overlap:
        options.say(
            f"warning: {result.train_overlap:,} of {result.covered:,} covered source words were trained on or used for "
            "choices; these figures are too high for new words"
        )
    if as_json:
        options.print_json({**result.to_json(), **({"hubness": hubs.to_json()} if hubs else {})})
        return
    _print(result)
    if hubs:
        _print_hubness(hubs, alignment.tables.along(direction).target)


@click.command()
@click.argument("run", type=options.RunPath)
@click.argument("judgements", type=options.FilePath)
@click.option(
    "--sides",
    type=click.Choice(["source-target", "target-source", "source-source", "target-target"]),
    default="source-target",
    show_default=True,
    help="The languages of the first and of the second word of each line.",
)
@options.device
@options.as_json
def similarity(run: Path, judgements: Path, sides: str, device: str, as_json: bool) -> None:
    """Spearman's correlation between cosines in the shared space and JUDGEMENTS: lines of word, word, score."""
    from bilex.evaluation.similarity import read_judgements

    first, second = sides.split("-")
    pair: Any = (first, second)
    result = options.load_run(run, device).similarity(read_judgements(judgements), pair)
    if as_json:
        options.print_json(result.to_json())
    else:
        options.show(
            f"Spearman {result.spearman:.3f} (p = {max(result.p_value, 1e-300):.2g}) "
            f"over {result.covered:,} of {result.pairs:,} pairs"
        )


def _print(result: Evaluation) -> None:
    rows: list[tuple[object, ...]] = [
        (f"covered sources ({result.covered:,})", *result.scores.shown()),
        (f"all sources ({result.sources:,})", *result.scores_all.shown()),
    ]
    if result.vectors_only is not None:
        rows.append(("  by the vectors alone, covered", *result.vectors_only.scores.shown()))
    rows += [
        (f"  rows {band.first + 1:,}-{band.last + 1:,} ({band.covered:,})", *band.scores.shown())
        for band in result.bands
    ]
    options.show(f"{result.direction}, {result.retrieval}; {result.coverage:.1f} % of the sources are covered")
    options.print_table(["", "P@1", "P@5", "P@10", "MRR"], rows)
    if result.calibration_error is not None:
        options.show(f"expected calibration error of the probabilities: {result.calibration_error:.3f}")


def _print_hubness(hubs: Hubness, table: EmbeddingTable) -> None:
    options.show(
        f"\nhubness: skewness {hubs.skewness:.2f} of {hubs.k}-occurrence, largest {hubs.largest}, "
        f"{hubs.never:.1f} % never retrieved"
    )
    options.show("greatest hubs: " + ", ".join(f"{table.words[row]} ({count})" for row, count in hubs.hubs))
