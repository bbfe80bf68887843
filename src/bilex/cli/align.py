"""bilex align."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import click

from bilex.cli import options
from bilex.cli.completion import complete_method, complete_setting
from bilex.cli.interruption import telling, this_command
from bilex.disk import free_bytes, gigabytes, require_room
from bilex.errors import AlignmentError
from bilex.files import remove_folder, remove_leftovers
from bilex.lock import LOCK, only_one
from bilex.provenance import INPUTS, begin, check_same, read
from bilex.trace import CHECKPOINT, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bilex.fitting import Inputs
    from bilex.methods.base import Method
    from bilex.settings_file import MethodSettings
    from bilex.trace import Value


CHECKPOINTS = 3
"""With its checkpoints a run takes so many times its tables while it is made, at most."""


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
@click.option("--method", shell_complete=complete_method, help="See `bilex methods`.  [default: procrustes]")
@click.option(
    "--unsupervised", is_flag=True, help="Learn without a dictionary: METHOD_unsupervised, by default rapo's."
)
@click.option("--rounds", type=click.IntRange(min=1), help="Rounds of self-learning; short for --set rounds=N.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=complete_setting,
    help="A setting of the method; repeatable.",
)
@click.option(
    "--settings",
    "settings_file",
    type=options.FilePath,
    help="Method and settings from a file, such as best.toml of `bilex tune`; --set overrides it.",
)
@options.max_words
@options.rng_seed
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
    settings_file: Path | None,
    max_words: int | None,
    rng_seed: int,
    resume: bool,
    output: Path,
    fold_case: bool,
    device: str,
    as_json: bool,
) -> None:
    """Map the word vectors in SOURCE and TARGET into one space, learnt from a dictionary, and write it to RUN.

    The folder RUN has all that `bilex translate`, `induce`, `evaluate` and `export` need. While it is being made, rapo
    and the methods of self-learning keep what they have learnt in RUN.partial, for --resume; others begin again.
    """
    given, partial = _settings(settings, rounds), output.with_name(f"{output.name}.partial")
    _check_free(output, partial, resume=resume)
    from bilex.fitting import fit
    from bilex.methods.base import get_method

    if settings_file is None:
        chosen = get_method(_method_name(method, train, unsupervised=unsupervised), given)
    else:
        filed = _read_settings(settings_file, method, unsupervised=unsupervised)
        chosen = get_method(filed.method, filed.settings | given)
    inputs = options.read_inputs(
        source,
        target,
        train,
        dev,
        max_words=max_words,
        method=chosen,
        rng_seed=rng_seed,
        fold_case=fold_case,
        spelling=spelling,
    )
    if resume and output.exists():
        from bilex.run import describe

        check_same(inputs.describe(), describe(output)["inputs"], output)
        if as_json:
            options.print_json({"run": str(output), "method": chosen.name, "finished_before": True})
        options.say(f"{output} is finished already; nothing to do")
        return
    options.say(*(f"warning: {doubt}" for doubt in inputs.doubts()))
    started = time.perf_counter()
    _check_room(output, inputs)
    with options.labelled_progress() as watcher, _kept(partial, output, inputs, watcher, resume=resume) as trace:
        alignment = fit(inputs, device=device, trace=trace)
        seconds = time.perf_counter() - started
        alignment.save(output)
    _warn(chosen, alignment.source.dim, alignment.provenance["train_coverage"])
    _tell(chosen.name, output, alignment.provenance["train_coverage"], seconds, as_json=as_json)


def _warn(method: Method, dim: int, coverage: dict[str, Any]) -> None:
    if coverage["pairs_covered"] < 0.2 * coverage["pairs_total"]:
        options.say("warning: few pairs of the dictionary are in both tables; check letter case and languages")
    if not method.finds_pairs and coverage["sources_covered"] < dim:
        options.say(
            f"warning: {coverage['sources_covered']:,} source words are few to learn {dim} dimensions from; give more "
            "pairs, or take a method for little dictionaries, such as rapo_semi"
        )


def _tell(method: str, output: Path, coverage: dict[str, Any], seconds: float, *, as_json: bool) -> None:
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
    from bilex.methods.base import all_methods

    name = (method or "rapo").replace("-", "_")
    known = all_methods().get(name)
    return name if known is not None and not known.needs_pairs else f"{name}_unsupervised"


def _read_settings(path: Path, method: str | None, *, unsupervised: bool) -> MethodSettings:
    """What the file holds, which must be for the method that was asked for, if one was."""
    from bilex.settings_file import read_settings

    filed = read_settings(path)
    if unsupervised or (method or filed.method).replace("-", "_") != filed.method.replace("-", "_"):
        asked = "--unsupervised" if unsupervised else f"--method {method}"
        raise click.UsageError(f"{path} is for method {filed.method}; leave out {asked}, or --settings")
    return filed


def _settings(texts: tuple[str, ...], rounds: int | None) -> dict[str, str]:
    return options.parse_settings(texts) | ({} if rounds is None else {"rounds": str(rounds)})


def _say_record(record: dict[str, Value]) -> None:
    options.say("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in record.items()))


def _check_free(output: Path, partial: Path, *, resume: bool) -> None:
    """Refuse a place that is taken, by a run, the beginnings of one or another process, before any work is done."""
    if partial.is_dir():
        with only_one(partial / LOCK):
            pass
    if not resume:
        _refuse_taken(output, partial)


def _refuse_taken(output: Path, partial: Path | None) -> None:
    if output.exists():
        from bilex.run import check_free

        check_free(output)
    if partial is not None and (partial / CHECKPOINT).exists():
        raise AlignmentError(f"{partial} was left by a run that was interrupted: go on with --resume, or remove it")


def _check_room(output: Path, inputs: Inputs) -> None:
    """Refuse what the disk has no room for; say so if it may become too little."""
    needed, free = inputs.least_bytes, free_bytes(output)
    require_room(output, needed, "the run")
    if free < CHECKPOINTS * needed:
        options.say(
            f"warning: {output} will take {gigabytes(needed)}, and checkpoints while it is made up to "
            f"{gigabytes((CHECKPOINTS - 1) * needed)} more; {gigabytes(free)} are free"
        )


@contextmanager
def _kept(
    partial: Path, output: Path, inputs: Inputs, watcher: Callable[[str, int, int], None], *, resume: bool
) -> Iterator[Trace]:
    """A trace with a folder for its checkpoints, on which one process works; removed when all is done.

    What was interrupted before its first checkpoint is removed too: there is nothing to go on from.
    """
    trace = Trace(_say_record, watcher=watcher, folder=partial, warn=lambda text: options.say(f"warning: {text}"))
    with only_one(partial / LOCK), telling(lambda: _what_is_kept(partial, trace)):
        try:
            _refuse_taken(output, None if resume else partial)
            _begin(partial, inputs)
            yield trace
        except BaseException:
            if not (partial / CHECKPOINT).exists():
                remove_folder(partial)
            raise
        remove_folder(partial)


def _begin(partial: Path, inputs: Inputs) -> None:
    """Go on with what was begun from the same inputs, or begin."""
    remove_leftovers(partial)
    if (partial / CHECKPOINT).exists():
        check_same(inputs.describe(), read(partial / INPUTS, again="align"), partial)
        options.say(f"going on from {partial}")
    else:
        begin(partial, inputs.describe())


def _what_is_kept(partial: Path, trace: Trace) -> str:
    if not (partial / CHECKPOINT).exists():
        return "nothing was kept"
    reached = {name.rpartition(".")[2]: value for name, value in (trace.kept or {}).items()}
    places = [f"{name} {reached[name]}" for name in ("round", "epoch") if name in reached]
    return f"go on from {', '.join(places) or partial} with{this_command('--resume')}"
