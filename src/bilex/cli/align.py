"""bilex align."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.errors import AlignmentError

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.fitting import Inputs
    from bilex.table import EmbeddingTable
    from bilex.trace import Value


@click.command()
@click.argument("source", type=options.FilePath)
@click.argument("target", type=options.FilePath)
@click.option("--train", type=options.FilePath, help="Dictionary to learn from: lines of source and target word.")
@click.option(
    "--dev",
    type=options.FilePath,
    help="Dictionary for a method's choices; by default a tenth of --train.",
)
@click.option("--method", default="procrustes", show_default=True, help="See `bilex methods`.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the method; repeatable.")
@click.option("--max-words", type=click.IntRange(min=1), help="Read only the first N words of each table.")
@click.option("--rng-seed", type=int, default=0, show_default=True, help="Seed of all random numbers.")
@click.option("--resume", is_flag=True, help="Do nothing if RUN is finished already and was made from the same inputs.")
@click.option("--output", "output", type=options.RunPath, required=True, metavar="RUN", help="Folder to write.")
@options.fold_case
@options.device
@options.as_json
def align(
    source: Path,
    target: Path,
    train: Path | None,
    dev: Path | None,
    method: str,
    settings: tuple[str, ...],
    max_words: int | None,
    rng_seed: int,
    resume: bool,
    output: Path,
    fold_case: bool,
    device: str,
    as_json: bool,
) -> None:
    """Map the word vectors in SOURCE and TARGET into one space, learnt from a dictionary, and write it to RUN.

    The folder RUN has all that `bilex translate`, `induce`, `evaluate` and `export` need.
    """
    given = _settings(settings)
    if output.exists() and not resume:
        from bilex.run import check_free

        check_free(output)
    from bilex.fitting import collect, fit
    from bilex.lexicon import Lexicon
    from bilex.methods.base import get_method
    from bilex.trace import Trace

    chosen = get_method(method, given)
    inputs = collect(
        _read(source, max_words),
        _read(target, max_words),
        None if train is None else Lexicon.read(train),
        dev=None if dev is None else Lexicon.read(dev),
        method=chosen,
        rng_seed=rng_seed,
        fold_case=fold_case,
    )
    if resume and output.exists():
        _check_same(inputs, output)
        if as_json:
            options.print_json({"run": str(output), "method": method, "finished_before": True})
        options.say(f"{output} is finished already; nothing to do")
        return
    started = time.perf_counter()
    alignment = fit(inputs, device=device, trace=Trace(_say_record))
    seconds = time.perf_counter() - started
    alignment.save(output)
    coverage = alignment.provenance["train_coverage"]
    if coverage["pairs_covered"] < 0.2 * coverage["pairs_total"]:
        options.say("warning: few pairs of the dictionary are in both tables; check letter case and languages")
    if as_json:
        kept = {key: value for key, value in coverage.items() if not key.startswith("missing")}
        options.print_json({"run": str(output), "method": method, "seconds": seconds, "train": kept})
        return
    options.say(
        f"{method}: learnt from {coverage['pairs_covered']:,} of {coverage['pairs_total']:,} pairs "
        f"({coverage['sources_covered']:,} source words) in {seconds:.1f} s",
        f"written to {output}; next: bilex translate {output} WORD",
    )


def _settings(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for key, equals, _ in pairs:
        if not (key and equals):
            raise click.BadParameter(f"found {key!r}; needed KEY=VALUE", param_hint="--set")
    return {key: value for key, _, value in pairs}


def _read(path: Path, max_words: int | None) -> EmbeddingTable:
    from bilex.table import EmbeddingTable

    table = EmbeddingTable.read(path, max_words=max_words)
    options.say(*(f"{path}: {line}" for line in table.report.summary()))
    return table


def _say_record(record: dict[str, Value]) -> None:
    options.say("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in record.items()))


def _check_same(inputs: Inputs, output: Path) -> None:
    """Refuse to take a run for this one that was made from something else."""
    import json

    from bilex.run import describe

    there = describe(output)["inputs"]
    here = json.loads(json.dumps(inputs.describe()))
    for known in (there, here):  # where a file lies does not matter, what is in it does
        for part in ("source", "target", "train", "dev"):
            (known[part] or {}).pop("file", None)
    different = [key for key in here if here[key] != there.get(key)]
    if different:
        raise AlignmentError(
            f"{output} was made with another {', '.join(different)}; choose another --output, or remove it first"
        )
