"""bilex tune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.completion import complete_method
from bilex.cli.dictionaries import format_options
from bilex.cli.interruption import note_on_interruption, this_command
from bilex.cli.parameters import as_options
from bilex.errors import AlignmentError, MissingExtraError
from bilex.parallel.cluster import import_ray

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.fitting.inputs import Inputs
    from bilex.tune.batches import Place
    from bilex.tune.search import Budget, Verdict
    from bilex.tune.space import Space
    from bilex.tune.study import Kind, Study
    from bilex.tune.trial import Outcome

MINUTES = 30.0


@click.command()
@click.argument("source", type=options.FilePath)
@click.argument("target", type=options.FilePath)
@click.option("--train", type=options.FilePath, required=True, help="Training dictionary.")
@click.option(
    "--dev", type=options.FilePath, help="Dictionary that the trials are compared on.  [default: a tenth of --train]"
)
@click.option(
    "--method", default="rapo", show_default=True, shell_complete=complete_method, help="See `bilex methods`."
)
@options.preset
@options.method_settings("Fix a setting, instead of searching it; repeatable.")
@click.option(
    "--space",
    "space_name",
    metavar="NAME",
    help="Another search space of the method, such as paper of rapo; see `bilex methods`. Presets of that name apply.",
)
@click.option("--minutes", type=click.FloatRange(min=0), help="Stop after this time.  [default: 30, without --trials]")
@click.option("--trials", type=click.IntRange(min=1), help="Stop after this number of trials.")
@click.option(
    "--search",
    "kind",
    type=click.Choice(["tpe", "random"]),
    default="tpe",
    show_default=True,
    help="tpe suggests settings from earlier trials and stops poor trials early; random draws all settings.",
)
@options.max_words
@options.rng_seed
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Trials that run in parallel, as one batch.  [default: 1; with --cluster as many as the cluster has room for]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads for each trial.  [default: this machine's, divided by --jobs; with --cluster 1]",
)
@options.cluster
@click.option("--resume", is_flag=True, help="Continue a search that has ended or was interrupted.")
@click.option(
    "--output",
    type=options.RunPath,
    default="tune-output",
    show_default=True,
    metavar="FOLDER",
    help="Folder to write.",
)
@format_options
@options.fold_case
@options.device
@options.as_json
def tune(
    source: Path,
    target: Path,
    train: Path,
    dev: Path | None,
    method: str,
    preset: str | None,
    settings: tuple[str, ...],
    space_name: str | None,
    minutes: float | None,
    trials: int | None,
    kind: Kind,
    max_words: int | None,
    rng_seed: int,
    jobs: int | None,
    threads: int | None,
    cluster: str | None,
    resume: bool,
    output: Path,
    fold_case: bool,
    device: str,
    as_json: bool,
    how: dict[str, Any],
) -> None:
    """Search for good settings of a method for SOURCE and TARGET, and write them to FOLDER/best.toml.

    Every trial trains on --train without the dev words. Trials are compared by the mean reciprocal rank (MRR) on the
    dev words. The first trial has the default settings; they are chosen unless another trial is significantly better.
    Use the result with `bilex align --settings FOLDER/best.toml`. With --resume, --minutes and --trials include the
    trials done before.
    """
    if not resume and output.exists():
        raise AlignmentError(
            f"{output} exists already; continue it with --resume, choose another --output, or remove it"
        )
    from bilex.tune.batches import Place
    from bilex.tune.search import Budget
    from bilex.tune.space import Space, import_optuna

    import_optuna()  # a missing package is reported before the tables are read
    if cluster is not None:
        import_ray()
    space = Space.of(method, options.parse_settings(settings, preset=preset), space_name)
    inputs = options.read_inputs(
        source,
        target,
        train,
        dev,
        max_words=max_words,
        method=space.method,
        rng_seed=rng_seed,
        fold_case=fold_case,
        how=how,
    )
    options.warn(*inputs.doubts())
    budget = Budget(minutes=MINUTES if minutes is None and trials is None else minutes, trials=trials)
    place = Place(jobs=jobs, threads=threads, cluster=cluster, device=device)
    _search(inputs, space, budget, kind, output, place, as_json=as_json)


def _search(
    inputs: Inputs, space: Space, budget: Budget, kind: Kind, output: Path, place: Place, *, as_json: bool
) -> None:
    from bilex.tune import report
    from bilex.tune.search import judge, search
    from bilex.tune.study import opened
    from bilex.tune.trial import with_dev

    with (
        opened(output, inputs, space, kind=kind) as study,
        options.labelled_progress() as show,
        place.ready(
            with_dev(inputs), space.given, output, watcher=lambda label, share: show(label, share, 1)
        ) as batches,
    ):
        if study.outcomes:
            options.say(f"continuing from {output} with {len(study.outcomes)} trials")
        if batches.size > 1:
            options.say(f"running {batches.size} trials in parallel")

        def save(outcome: Outcome) -> None:
            _say_outcome(outcome)
            report.write_report(output, space, judge(study.outcomes), study.outcomes)

        with note_on_interruption(lambda: _saved_trials(study)):
            verdict = search(study, budget, batches.evaluate_many, batch=batches.size, listener=save)
    report.write_report(output, space, verdict, study.outcomes)
    _draw(output, study)
    if as_json:
        options.print_json(report.to_json(output, space, verdict, study.outcomes))
    else:
        _print(verdict)
    options.say(
        *report.comments(verdict, len(study.outcomes)),
        f"next: bilex align SOURCE TARGET --train DICT --settings {output / report.BEST} --output RUN",
    )


def _saved_trials(study: Study) -> str:
    if not study.outcomes:
        return "no trial was saved"
    trials = len(study.outcomes)
    saved = "1 trial was saved" if trials == 1 else f"{trials} trials were saved"
    return f"{saved}; to continue, run{this_command('--resume')}"


def _say_outcome(outcome: Outcome) -> None:
    figures = {
        "done": f"dev MRR {outcome.mrr:.4f}, P@1 {outcome.p_at_1:.1f}" if outcome.mrr is not None else "",
        "stopped": f"stopped after {len(outcome.epochs) - 1} epochs",
        "failed": f"failed: {as_options(outcome.error or '')}",
    }[outcome.state]
    settings = " ".join(f"{name}={text}" for name, text in outcome.settings.items())
    options.say(f"trial {outcome.number}: {figures}; {outcome.seconds:.1f} s; {settings}")


def _draw(output: Path, study: Study) -> None:
    from bilex.tune.plots import draw

    try:
        draw(output, study)
    except MissingExtraError as error:
        options.say(f"no plots were drawn: {as_options(str(error))}")


def _print(verdict: Verdict) -> None:
    compared = [verdict.default] if verdict.best is verdict.default else [verdict.default, verdict.best]
    rows = [(name, *(outcome.settings[name] for outcome in compared)) for name in verdict.default.settings]
    rows.append(("dev MRR", *(f"{outcome.mrr:.4f}" for outcome in compared)))
    rows.append(("dev P@1", *(f"{outcome.p_at_1:.1f}" for outcome in compared)))
    options.print_table(["", "the defaults", f"best trial: {verdict.best.number}"][: len(compared) + 1], rows)
