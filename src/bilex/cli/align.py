"""bilex align."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import click

from bilex.cli import options
from bilex.errors import AlignmentError
from bilex.files import replacing_folder
from bilex.trace import CHECKPOINT, Trace

if TYPE_CHECKING:
    from collections.abc import Iterator
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
@click.option("--identical", "spelling", flag_value="identical", help="Learn from words that both tables have, too.")
@click.option("--numerals", "spelling", flag_value="numerals", help="The same, from numerals only.")
@click.option("--method", help="See `bilex methods`.  [default: procrustes]")
@click.option(
    "--unsupervised", is_flag=True, help="Learn without a dictionary: METHOD_unsupervised, by default rapo's."
)
@click.option("--rounds", type=click.IntRange(min=1), help="Rounds of self-learning; short for --set rounds=N.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the method; repeatable.")
@click.option("--max-words", type=click.IntRange(min=1), help="Read only the first N words of each table.")
@click.option("--rng-seed", type=int, default=0, show_default=True, help="Seed of all random numbers.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with a RUN that was interrupted; if it is finished, do nothing. Its inputs must be the same.",
)
@click.option("--output", "output", type=options.RunPath, required=True, metavar="RUN", help="Folder to write.")
@options.fold_case
@options.device
@options.as_json
def align(
    source: Path,
    target: Path,
    train: Path | None,
    dev: Path | None,
    spelling: Literal["identical", "numerals"] | None,
    method: str | None,
    unsupervised: bool,
    rounds: int | None,
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

    The folder RUN has all that `bilex translate`, `induce`, `evaluate` and `export` need. While it is being made, a
    method that learns in epochs keeps what it has learnt in RUN.partial, for --resume.
    """
    given, partial = _settings(settings, rounds), output.with_name(f"{output.name}.partial")
    if not resume:
        _check_free(output, partial)
    from bilex.fitting import collect, fit
    from bilex.lexicon import Lexicon
    from bilex.methods.base import get_method

    chosen = get_method(_method_name(method, train, unsupervised=unsupervised), given)
    inputs = collect(
        _read(source, max_words),
        _read(target, max_words),
        None if train is None else Lexicon.read(train),
        dev=None if dev is None else Lexicon.read(dev),
        method=chosen,
        rng_seed=rng_seed,
        fold_case=fold_case,
        spelling=spelling,
    )
    if resume and output.exists():
        from bilex.run import describe

        _check_same(inputs, describe(output)["inputs"], output)
        if as_json:
            options.print_json({"run": str(output), "method": chosen.name, "finished_before": True})
        options.say(f"{output} is finished already; nothing to do")
        return
    options.say(*(f"warning: {doubt}" for doubt in inputs.doubts()))
    started = time.perf_counter()
    with _kept(partial, inputs), options.labelled_progress() as watcher:
        alignment = fit(inputs, device=device, trace=Trace(_say_record, watcher=watcher, folder=partial))
        seconds = time.perf_counter() - started
        alignment.save(output)
    _tell(chosen.name, output, alignment.provenance["train_coverage"], seconds, as_json=as_json)


def _tell(method: str, output: Path, coverage: dict[str, Any], seconds: float, *, as_json: bool) -> None:
    if coverage["pairs_covered"] < 0.2 * coverage["pairs_total"]:
        options.say("warning: few pairs of the dictionary are in both tables; check letter case and languages")
    if as_json:
        kept = {key: value for key, value in coverage.items() if not key.startswith("missing")}
        options.print_json({"run": str(output), "method": method, "seconds": seconds, "train": kept})
        return
    pairs = (
        f"from {coverage['pairs_covered']:,} of {coverage['pairs_total']:,} pairs "
        f"({coverage['sources_covered']:,} source words)"
    )
    options.say(
        f"{method}: learnt {pairs if coverage['pairs_total'] else 'without a dictionary'} in {seconds:.1f} s",
        f"written to {output}; next: bilex translate {output} WORD",
    )


def _method_name(method: str | None, train: Path | None, *, unsupervised: bool) -> str:
    if not unsupervised:
        return method or "procrustes"
    if train is not None:
        raise click.UsageError("--unsupervised learns without a dictionary; leave out --train, or --unsupervised")
    name = method or "rapo"
    return name if name.endswith("unsupervised") else f"{name}_unsupervised"


def _settings(texts: tuple[str, ...], rounds: int | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for key, equals, _ in pairs:
        if not (key and equals):
            raise click.BadParameter(f"found {key!r}; needed KEY=VALUE", param_hint="--set")
    if rounds is not None:
        pairs.append(("rounds", "=", str(rounds)))
    return {key: value for key, _, value in pairs}


def _read(path: Path, max_words: int | None) -> EmbeddingTable:
    from bilex.table import EmbeddingTable

    table = EmbeddingTable.read(path, max_words=max_words)
    options.say(*(f"{path}: {line}" for line in table.report.summary()))
    return table


def _say_record(record: dict[str, Value]) -> None:
    options.say("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in record.items()))


def _check_free(output: Path, partial: Path) -> None:
    """Refuse a place that is taken, by a run or by the beginnings of one, before any work is done."""
    if output.exists():
        from bilex.run import check_free

        check_free(output)
    if partial.exists():
        raise AlignmentError(f"{partial} was left by a run that was interrupted: go on with --resume, or remove it")


@contextmanager
def _kept(partial: Path, inputs: Inputs) -> Iterator[None]:
    """A folder for checkpoints, that of an earlier run from the same inputs if there is one; removed when all is done.

    It is removed too when it is new and no checkpoint has come into it: there is nothing to go on from.
    """
    file = partial / "inputs.json"
    if partial.exists():
        _check_same(inputs, _read_json(file), partial)
        options.say(f"going on from {partial}")
    else:
        with _writing(partial), replacing_folder(partial) as folder:
            text = json.dumps(inputs.describe(), indent=2, ensure_ascii=False)
            (folder / file.name).write_text(text + "\n", encoding="utf-8")
    try:
        yield
    except BaseException:
        if not (partial / CHECKPOINT).exists():
            shutil.rmtree(partial, ignore_errors=True)
        raise
    shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AlignmentError(f"{path}: cannot be written: {error}; choose another --output") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AlignmentError(f"{path}: cannot be read: {error}; remove {path.parent} and align again") from error
    return found if isinstance(found, dict) else {}


def _check_same(inputs: Inputs, there: dict[str, Any], path: Path) -> None:
    """Refuse to take a run for this one that was made from something else."""
    here = json.loads(json.dumps(inputs.describe()))
    for known in (there, here):  # where a file lies does not matter, what is in it does
        for part in ("source", "target", "train", "dev"):
            (known.get(part) or {}).pop("file", None)
    different = [key for key in here if here[key] != there.get(key)]
    if different:
        raise AlignmentError(
            f"{path} was made with another {', '.join(different)}; choose another --output, or remove it first"
        )
