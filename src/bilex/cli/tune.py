"""bilex tune."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.cli.completion import complete_method, complete_setting
from bilex.cli.interruption import telling, this_command
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
@click.option("--train", type=options.FilePath, required=True, help="Dictionary to learn from.")
@click.option("--dev", type=options.FilePath, help="Dictionary that decides; by default a tenth of --train.")
@click.option(
    "--method", default="rapo", show_default=True, shell_complete=complete_method, help="See `bilex methods`."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=complete_setting,
    help="A setting not to search; repeatable.",
)
@click.option("--minutes", type=click.FloatRange(min=0), help="End after so long.  [default: 30, without --trials]")
@click.option("--trials", type=click.IntRange(min=1), help="End after so many trials.")
@click.option(
    "--search",
    "kind",
    type=click.Choice(["tpe", "random"]),
    default="tpe",
    show_default=True,
    help="tpe learns from the trials what to try, and prunes poor ones; random draws all.",
)
@options.max_words
@options.rng_seed
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Trials side by side, a batch of them at a time.  [default: 1; with --cluster as many as there is room for]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads for each trial.  [default: this machine's, divided by --jobs; with --cluster 1]",
)
@options.cluster
@click.option("--resume", is_flag=True, help="Go on with a search that has ended or was interrupted.")
@click.option(
    "--output",
    type=options.RunPath,
    default="tune-output",
    show_default=True,
    metavar="FOLDER",
    help="Folder to write.",
)
@options.fold_case
@options.device
@options.as_json
def tune(
    source: Path,
    target: Path,
    train: Path,
    dev: Path | None,
    method: str,
    settings: tuple[str, ...],
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
) -> None:
    """Search good settings of a method for SOURCE and TARGET, and write them to FOLDER/best.toml.

    The dictionary --train is learnt from, but for dev words, which decide: by the mean reciprocal rank of their
    translations. The first trial is that of the defaults; they stay if nothing is clearly better. Use what was found
    with `bilex align --settings FOLDER/best.toml`. --minutes and --trials count what was done before, with --resume.
    """
    if not resume and output.exists():
        raise AlignmentError(f"{output} exists already: go on with --resume, choose another --output, or remove it")
    from bilex.tune.batches import Place
    from bilex.tune.search import Budget
    from bilex.tune.space import Space, import_optuna

    import_optuna()  # rather now than after the tables are read
    if cluster is not None:
        import_ray()
    space = Space.of(method, options.parse_settings(settings))
    inputs = options.read_inputs(
        source,
        target,
        train,
        dev,
        max_words=max_words,
        method=space.method,
        rng_seed=rng_seed,
        fold_case=fold_case,
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
            options.say(f"going on from {output}: {len(study.outcomes)} trials")
        if batches.size > 1:
            options.say(f"{batches.size} trials at a time")

        def keep(outcome: Outcome) -> None:
            _say_outcome(outcome)
            report.write_report(output, space, judge(study.outcomes), study.outcomes)

        with telling(lambda: _what_is_kept(study)):
            verdict = search(study, budget, batches.evaluate_many, batch=batches.size, listener=keep)
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


def _what_is_kept(study: Study) -> str:
    if not study.outcomes:
        return "nothing was kept"
    trials = len(study.outcomes)
    return f"{trials} trial{'s' * (trials > 1)} are kept; go on with{this_command('--resume')}"


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
        options.say(f"no pictures: {as_options(str(error))}")


def _print(verdict: Verdict) -> None:
    shown = [verdict.default] if verdict.best is verdict.default else [verdict.default, verdict.best]
    rows = [(name, *(outcome.settings[name] for outcome in shown)) for name in verdict.default.settings]
    rows.append(("dev MRR", *(f"{outcome.mrr:.4f}" for outcome in shown)))
    rows.append(("dev P@1", *(f"{outcome.p_at_1:.1f}" for outcome in shown)))
    options.print_table(["", "the defaults", f"trial {verdict.best.number}, the best"][: len(shown) + 1], rows)
