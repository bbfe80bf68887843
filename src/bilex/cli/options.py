"""Options that several commands share, messages and progress on stderr, tables and JSON on stdout."""

from __future__ import annotations

import dataclasses
import importlib
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bilex.cli import garbage
from bilex.cli.completion import complete_preset, complete_setting
from bilex.cli.parameters import as_options
from bilex.errors import BilexError
from bilex.io.standard import STDOUT
from bilex.storage.files import require_utf8_name
from bilex.storage.strict_json import to_json
from bilex.text.printable import printable, printable_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bilex.alignment import Alignment
    from bilex.fitting.inputs import Inputs
    from bilex.lexicon import Lexicon
    from bilex.retrieval import Retrieval
    from bilex.search.blocks import Progress
    from bilex.table import EmbeddingTable


class Utf8Path(click.Path):
    """A path whose name must be UTF-8. Any other name is refused before any work is done."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, after the check."""
        path = super().convert(value, param, ctx)
        require_utf8_name(Path(os.fsdecode(path)))
        return path


RunPath = Utf8Path(path_type=Path)
FilePath = click.Path(path_type=Path, dir_okay=False)
OutputPath = Utf8Path(path_type=Path, dir_okay=False)
NO_FOLD_WIDTH = 1000
"""Characters per line for tables that must not be folded; no table is as wide."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
device = click.option("--device", default="auto", show_default=True, help="cpu, cuda, or auto: a GPU if there is one.")
cluster = click.option("--cluster", metavar="ADDRESS", help="Run on Ray: the address of a cluster, auto, or local.")
preset = click.option(
    "--preset",
    metavar="NAME",
    shell_complete=complete_preset,
    help="Named settings of the method, such as paper of rapo; see `bilex methods METHOD`; --set overrides them.",
)
max_words = click.option("--max-words", type=click.IntRange(min=1), help="Read only the first N words of each table.")
rng_seed = click.option("--rng-seed", type=int, default=0, show_default=True, help="Seed of all random numbers.")
fold_case = click.option("--fold-case", is_flag=True, help="Also match dictionary words that differ in letter case.")
direction = click.option(
    "--direction",
    type=click.Choice(["forward", "backward"]),
    default="forward",
    show_default=True,
    help="forward: source to target; backward: target to source.",
)


def method_settings(about: str) -> Callable[[Any], Any]:
    """--set KEY=VALUE, repeatable."""
    return click.option(
        "--set", "settings", multiple=True, metavar="KEY=VALUE", shell_complete=complete_setting, help=about
    )


def retrieval(command: Any) -> Any:
    """--retrieval and its settings."""
    kinds = click.Choice(["csls", "nn", "isf"])
    about = "csls, nn (nearest neighbour), isf (inverted softmax)."
    for option in (
        click.option("--k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours of csls."),
        click.option("--beta", type=float, default=30.0, show_default=True, help="Inverse temperature of isf."),
        click.option("--retrieval", type=kinds, default="csls", show_default=True, help=about),
    ):
        command = option(command)
    return command


vectors_only = click.option(
    "--vectors-only", is_flag=True, help="Rank by the vectors alone, without the second stage of RUN."
)


def make_retrieval(name: str, k: int, beta: float) -> Retrieval:
    """The retrieval of that name."""
    from bilex.retrieval import RETRIEVALS

    kind, given = RETRIEVALS[name], {"k": k, "beta": beta}
    return kind(**{field.name: given[field.name] for field in dataclasses.fields(kind)})


def parse_settings(texts: Sequence[str], *, preset: str | None = None) -> dict[str, str]:
    """The values of --set KEY=VALUE by key, as texts, and that of --preset."""
    from bilex.settings.presets import PRESET

    pairs = [text.partition("=") for text in texts]
    for key, equals, _ in pairs:
        if not (key and equals):
            raise click.BadParameter(f"found {key!r}; needed KEY=VALUE", param_hint="--set")
    given = {} if preset is None else {PRESET: preset}
    return given | {key: value for key, _, value in pairs}


def read_table(path: Path, max_words: int | None) -> EmbeddingTable:
    """Read word vectors, and print the problems that were found."""
    from bilex.table import EmbeddingTable

    table = EmbeddingTable.read(path, max_words=max_words)
    say(*(f"{path}: {line}" for line in table.report.summary()))
    return table


def read_inputs(
    source: Path,
    target: Path,
    train: Path | None,
    dev: Path | None,
    *,
    max_words: int | None,
    corrections: Path | None = None,
    how: dict[str, Any] | None = None,
    **more: Any,
) -> Inputs:
    """The inputs of an alignment from their files; `more` are inputs that are not files. how: as in `read_lexicon`."""
    from bilex.fitting.inputs import collect
    from bilex.run.decisions import Decisions

    for path in (source, target, train, dev, corrections):
        if path is not None:
            require_utf8_name(path.resolve())  # the provenance of the run contains the path
    decisions = None if corrections is None else Decisions.read(corrections)
    return collect(
        read_table(source, max_words),
        read_table(target, max_words),
        None if train is None else read_lexicon(train, how or {}),
        dev=None if dev is None else read_lexicon(dev, how or {}),
        corrections=decisions,
        **more,
    )


def read_lexicon(path: Path, how: dict[str, Any]) -> Lexicon:
    """Read a dictionary, and print how it was understood, unless it is plain pairs of words. how: `format_options`."""
    from bilex.lexicon import Lexicon

    lexicon = Lexicon.read(path, **how)
    report = lexicon.report
    say(*(f"{path}: {as_options(line)}" for line in ([] if report is None else report.summary())))
    return lexicon


def load_run(path: Path, device_name: str) -> Alignment:
    """Open a run folder."""
    with garbage.importing():
        from bilex.alignment import Alignment

        importlib.import_module("bilex.run.folder")  # Alignment.load imports it

    return Alignment.load(path, device=device_name)


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A progress bar on stderr, shown only at a terminal."""
    with labelled_progress(label) as update:
        yield lambda done, total: update(label, done, total)


@contextmanager
def labelled_progress(label: str = "") -> Iterator[Callable[[str, float, float], None]]:
    """The same for work in several steps. The function takes the name of the step, the amount done and the total."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda label, done, total: bar.update(task, description=label, completed=done, total=total)


def say(*lines: str) -> None:
    """Print messages on stderr."""
    for line in lines:
        click.echo(printable(line, keep="\n"), file=sys.stderr)  # an explicit sys.stderr: rich then draws its bar below


def warn(*doubts: str) -> None:
    """Print warnings of the library on stderr."""
    say(*(f"warning: {as_options(doubt)}" for doubt in doubts))


def show(*lines: str) -> None:
    """Print results as text on stdout."""
    for line in lines:
        click.echo(printable(line, keep="\n"))


def print_json(value: Any, indent: int | None = None) -> None:
    """Print one JSON value on stdout."""
    click.echo(printable_json(to_json(value, indent=indent)))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1, fold: bool = True) -> None:
    """Print a table on stdout. The first `left` columns are text, the others numbers. `fold` wraps long cells."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="dim")
    for i, header in enumerate(headers):
        table.add_column(Text(printable(header)), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*[Text(printable(str(cell))) for cell in row])
    console = Console(highlight=False, width=None if fold else NO_FOLD_WIDTH)
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def check_free(path: Path, *, force: bool) -> None:
    """Refuse a file that exists, or whose folder does not, before any work is done."""
    if path == STDOUT:
        return
    if path.exists() and not force:
        raise BilexError(f"{path} exists already and is left as it is: choose another name, or replace it with --force")
    if not path.absolute().parent.is_dir():
        raise BilexError(f"{path}: there is no folder {path.parent}; make it first")
