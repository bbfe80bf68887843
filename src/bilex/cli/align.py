"""bilex align."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from bilex.cli import align_messages, garbage, options, unfinished
from bilex.cli.completion import complete_method
from bilex.cli.dictionaries import format_options
from bilex.cli.invocation import Invocation
from bilex.cli.parameters import as_options
from bilex.cli.training import shown
from bilex.fitting.profile import Profile, table

if TYPE_CHECKING:
    from bilex.alignment import Alignment
    from bilex.fitting.inputs import Inputs
    from bilex.settings.file import MethodSettings


@click.command()
@click.argument("source", type=options.FilePath)
@click.argument("target", type=options.FilePath)
@click.option(
    "--train", type=options.FilePath, help="Training dictionary: pairs of words, one in each line, or a spreadsheet."
)
@click.option(
    "--dev",
    type=options.FilePath,
    help="Dictionary for choices during training, such as the best epoch.  [default: a tenth of --train]",
)
@click.option(
    "--corrections",
    type=click.Path(path_type=Path),
    metavar="RUN|FILE",
    help="Also train on the decisions made in `bilex explore`; without --train, use the dictionary of RUN too.",
)
@click.option(
    "--identical", "spelling", flag_value="identical", help="Also train on words that are spelt alike in both tables."
)
@click.option("--numerals", "spelling", flag_value="numerals", help="The same, with numerals only.")
@click.option(
    "--method",
    shell_complete=complete_method,
    help="See `bilex methods`.  [default: rapo; rapo_semi with a small dictionary, rapo_unsupervised without one]",
)
@click.option("--fast", is_flag=True, help="Train in seconds, with lower accuracy: --method procrustes.")
@click.option(
    "--unsupervised", is_flag=True, help="Train without a dictionary: METHOD_unsupervised.  [default method: rapo]"
)
@options.preset
@click.option("--rounds", type=click.IntRange(min=1), help="Rounds of self-learning; short for --set rounds=N.")
@options.method_settings("A setting of the method; repeatable.")
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
    help="Continue a RUN that was interrupted. The inputs must be the same; if it is finished, nothing is done.",
)
@click.option("--output", "output", type=options.RunPath, required=True, metavar="RUN", help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace RUN if it exists, after the new one is complete.")
@click.option("--vectors-only", is_flag=True, help="Leave out the second stage, which ranks by further signals.")
@format_options
@click.option("--verbose", is_flag=True, help="Print the figures of each epoch or round on stderr.")
@click.option("--profile", "profiled", is_flag=True, help="At the end, print on stderr where the time went.")
@options.fold_case
@options.device
@options.as_json
def align(
    source: Path,
    target: Path,
    train: Path | None,
    dev: Path | None,
    corrections: Path | None,
    spelling: Literal["identical", "numerals"] | None,
    method: str | None,
    fast: bool,
    unsupervised: bool,
    preset: str | None,
    rounds: int | None,
    settings: tuple[str, ...],
    settings_file: Path | None,
    max_words: int | None,
    rng_seed: int,
    resume: bool,
    output: Path,
    force: bool,
    vectors_only: bool,
    verbose: bool,
    profiled: bool,
    fold_case: bool,
    device: str,
    as_json: bool,
    how: dict[str, Any],
) -> None:
    """Map the word vectors in SOURCE and TARGET into one space, learnt from a dictionary, and write it to RUN.

    The default is the most accurate method for your data. It may take minutes, and the expected time is printed first.
    With --fast it takes seconds. At the end, the accuracy on held-out words is printed.

    With a dictionary, a second stage then learns to rank the candidates of each word by further signals, such as
    spelling and frequency, and how probable each is. It is used only if it helps on held-out words, and not with
    --fast.

    The folder RUN contains everything that `bilex translate`, `induce`, `evaluate` and `export` need. During training,
    rapo and the methods of self-learning save checkpoints in RUN.partial, for --resume; other methods start again. The
    second stage goes on after the folds of the dictionary that are finished.

    --profile prints seconds and shares of: imports (from the start of the process), reading, contexts, start (the
    initial map), steps and refreshes of rapo, other training, evaluation on held-out words, writing, and all else. A
    method without these stages has one line for its training. With --json, the seconds are also in "profile".
    """
    profile = Profile(Invocation.running().started)
    given, partial = _settings(settings, preset, rounds), output.with_name(f"{output.name}.partial")
    unfinished.check_free(output, partial, resume=resume, force=force)
    with garbage.importing():
        from bilex.fitting.default import check_settings
        from bilex.fitting.fit import fit, measure, with_second_stage
        from bilex.methods.base import get_method
        from bilex.training.trace import Trace

    profile.imported()
    if fast and (method or unsupervised or settings_file):
        raise click.UsageError(
            "--fast chooses the method; leave out --fast, or leave out --method, --unsupervised and --settings"
        )
    name = _method_name(method, train or corrections, unsupervised=unsupervised)
    if settings_file is not None:
        from_file = _read_settings(settings_file, method, unsupervised=unsupervised)
        name, given = from_file.method, from_file.settings | given
    if name is None:
        check_settings(given, fast=fast, dictionary=bool(train or spelling or corrections))
    with profile.timed("reading"):
        inputs = options.read_inputs(
            source,
            target,
            train,
            dev,
            max_words=max_words,
            method=None if name is None else get_method(name, given),
            fast=fast,
            settings=given if name is None else None,
            rng_seed=rng_seed,
            fold_case=fold_case,
            spelling=spelling,
            corrections=corrections,
            how=how,
        )
    if resume and unfinished.is_finished(output, partial, inputs, force=force):
        if as_json:
            options.print_json({"run": str(output), "method": inputs.method.name, "finished_before": True})
        options.say(f"{output} is finished already; nothing to do")
        return
    unfinished.check_room(output, inputs)
    expected = align_messages.expected_seconds(inputs, device)
    options.say(*align_messages.decisions(inputs, train))
    options.warn(*inputs.doubts(), *align_messages.warnings(inputs))
    options.say(*align_messages.before(inputs, expected))
    begun = time.perf_counter()
    with (
        shown(verbose=verbose) as training,
        unfinished.checkpoint(partial, output, inputs, resume=resume, force=force) as checkpoint,
    ):
        trace = Trace(profile.listener(training.hear), watcher=training.watch)
        with profile.timed("training"):
            alignment = fit(inputs, device=device, trace=trace, checkpoint=checkpoint)
        with profile.timed("evaluation"):
            measure(alignment, inputs)
        with profile.timed("second_stage"):
            if not (vectors_only or fast):
                alignment = with_second_stage(alignment, inputs, checkpoint=checkpoint)
        seconds = time.perf_counter() - begun
        with profile.timed("writing"):
            alignment.save(output, replace=force)
    parts = profile.seconds() if profiled else None
    if as_json:
        options.print_json(_to_json(alignment, inputs, output, expected, seconds, parts))
    else:
        options.say(*align_messages.after(alignment, output, seconds))
    if parts is not None:
        options.say(*table(parts))


def _to_json(
    alignment: Alignment,
    inputs: Inputs,
    output: Path,
    expected: float | None,
    seconds: float,
    profile: dict[str, float] | None,
) -> dict[str, Any]:
    provenance = alignment.provenance
    found = {
        "run": str(output),
        "method": inputs.method.name,
        "why": inputs.why and as_options(inputs.why),
        "expected_seconds": expected,
        "seconds": seconds,
        "train": {key: value for key, value in provenance["train_coverage"].items() if not key.startswith("missing")},
        "corrections": provenance["inputs"]["corrections"],
        "held_out": provenance["held_out"],
        "agreement": provenance["agreement"],
        "second_stage": None if alignment.reranker is None else alignment.reranker.summary.to_json(),
    }
    return found if profile is None else {**found, "profile": profile}


def _method_name(method: str | None, pairs: Path | None, *, unsupervised: bool) -> str | None:
    """The method that was named; None if it is to be chosen by the data."""
    if not unsupervised:
        return method
    if pairs is not None:
        raise click.UsageError(
            "--unsupervised trains without a dictionary; leave out --train and --corrections, or --unsupervised"
        )
    from bilex.methods.base import all_methods

    name = (method or "rapo").replace("-", "_")
    known = all_methods().get(name)
    return name if known is not None and not known.needs_pairs else f"{name}_unsupervised"


def _read_settings(path: Path, method: str | None, *, unsupervised: bool) -> MethodSettings:
    """The method and settings of the file. If a method is named too, it must be the same one."""
    from bilex.settings.file import read_settings

    found = read_settings(path)
    if unsupervised or (method or found.method).replace("-", "_") != found.method.replace("-", "_"):
        option = "--unsupervised" if unsupervised else f"--method {method}"
        raise click.UsageError(f"{path} is for method {found.method}; leave out {option}, or --settings")
    return found


def _settings(texts: tuple[str, ...], preset: str | None, rounds: int | None) -> dict[str, str]:
    return options.parse_settings(texts, preset=preset) | ({} if rounds is None else {"rounds": str(rounds)})
