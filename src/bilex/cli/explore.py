"""bilex explore."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from bilex.cli import options
from bilex.cli.explore_import import import_review
from bilex.cli.explore_learn import relearn_run
from bilex.errors import ExplorerError
from bilex.io import standard
from bilex.io.standard import STDOUT

if TYPE_CHECKING:
    from bilex.retrieval.sides import Side
    from bilex.run.corrections import Corrections

CORRECTIONS = "corrections.sqlite"
PORT = 8421  # repeated here so that --help need not import it; a test checks that it equals that of bilex.explorer


class Evidence(NamedTuple):
    """The files of --source-corpus and the like, by language."""

    corpora: dict[Side, Path | None]
    tags: dict[Side, str | None]


@click.command()
@click.argument("run", type=options.RunPath)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port; if it is in use, the next free one is taken. 0: any free port.",
)
@click.option("--open/--no-open", "show", default=True, help="Open the page in a browser.")
@click.option(
    "--corrections", type=options.OutputPath, help=f"SQLite file of the decisions.  [default: RUN/{CORRECTIONS}]"
)
@click.option(
    "--export",
    "export_to",
    type=options.OutputPath,
    help="Write accepted and corrected pairs to a file, or - for standard output, and start no server.",
)
@click.option(
    "--import",
    "imported",
    type=options.FilePath,
    help="Store the decisions in an edited sheet of `bilex induce RUN --output FILE.xlsx`, and start no server.",
)
@click.option(
    "--merge",
    "merged",
    type=options.FilePath,
    multiple=True,
    help="Add the decisions of another reviewer's file, and start no server. May be given several times.",
)
@click.option(
    "--learn",
    is_flag=True,
    help="Let the second stage of RUN learn from the decisions, within seconds, and start no server.",
)
@click.option("--unlearn", is_flag=True, help="Take back what --learn, or the page, has taught it; start no server.")
@click.option("--reviewer", default="", metavar="NAME", help="Your name; it is stored with each of your decisions.")
@click.option(
    "--source-corpus",
    type=click.Path(path_type=Path),
    help="Text file, or folder of text files, of the source language: the page shows examples from it.",
)
@click.option("--target-corpus", type=click.Path(path_type=Path), help="The same of the target language.")
@click.option(
    "--source-tags",
    metavar="FILE|simplemma:CODE",
    help="Lemmas and parts of speech of source words: lines of word, lemma and part with tabs, or those of simplemma.",
)
@click.option("--target-tags", metavar="FILE|simplemma:CODE", help="The same of target words.")
@click.option("--with-train", is_flag=True, help="Also export the run's own dictionary, without rejected pairs.")
@click.option("--force", is_flag=True, help="Replace the exported file if it exists.")
@click.option("--k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours of csls.")
@options.device
@options.as_json
def explore(
    run: Path,
    host: str,
    port: int,
    show: bool,
    corrections: Path | None,
    export_to: Path | None,
    imported: Path | None,
    merged: tuple[Path, ...],
    learn: bool,
    unlearn: bool,
    reviewer: str,
    source_corpus: Path | None,
    target_corpus: Path | None,
    source_tags: str | None,
    target_tags: str | None,
    with_train: bool,
    force: bool,
    k: int,
    device: str,
    as_json: bool,
) -> None:
    """Browse the alignment in RUN on a local web page, and accept, reject or correct its translations.

    Only this machine can open the page, unless --host says otherwise. Every decision is saved in the run folder at
    once. `bilex induce RUN` applies the decisions, and `bilex align --corrections RUN` trains on them. The file that
    --export writes can be used as `bilex align --train`. --merge changes nothing that was decided here: the page shows
    where reviewers differ. --learn ranks the candidates by what the decisions teach: `bilex translate`, `induce` and
    `evaluate` then use that, until --unlearn takes it back. A corpus is indexed once, in RUN/cache. Press Ctrl-C to
    stop the server.
    """
    from bilex.run.folder import describe

    describe(run)  # refuse a folder that is not a run before anything is written to it
    file = corrections or run / CORRECTIONS
    if export_to is not None:
        _export(run, file, export_to, with_train=with_train, force=force, device=device, as_json=as_json)
        return
    if with_train or force:
        raise click.UsageError("--with-train and --force need --export FILE")
    if imported is not None:
        import_review(file, imported, run, reviewer, as_json=as_json)
        return
    if merged:
        _merge(file, merged, as_json=as_json)
        return
    if learn and unlearn:
        raise click.UsageError("--learn and --unlearn are opposites; give one of them")
    if learn or unlearn:
        relearn_run(run, file, back=unlearn, device=device, as_json=as_json)
        return
    evidence = Evidence(
        {"source": source_corpus, "target": target_corpus}, {"source": source_tags, "target": target_tags}
    )
    _serve(run, file, host, port, reviewer, evidence, k=k, show=show, device=device, as_json=as_json)


def _serve(
    run: Path,
    file: Path,
    host: str,
    port: int,
    reviewer: str,
    evidence: Evidence,
    *,
    k: int,
    show: bool,
    device: str,
    as_json: bool,
) -> None:
    from bilex.explorer import server

    server.require_packages()
    from bilex.explorer.app import make_app
    from bilex.explorer.corpus import Corpus
    from bilex.explorer.explorer import Explorer
    from bilex.explorer.tags import read_tags
    from bilex.run.corrections import Corrections
    from bilex.run.decision import checked_name

    name = checked_name(reviewer)
    tags = {side: read_tags(given) for side, given in evidence.tags.items() if given}
    indexes = {side: _indexed(run, side, corpus) for side, corpus in evidence.corpora.items() if corpus}
    corrections = Corrections(file, reviewer=name)
    bound = server.listen(host, port)
    alignment = options.load_run(run, device)
    corpora = {side: Corpus(path) for side, path in indexes.items()}
    explorer = Explorer(alignment, corrections, k=k, corpora=corpora, tags=tags)
    url = server.address(bound)

    def announce() -> None:
        _announce(url, host, port, as_json=as_json)
        if show:
            server.open_browser(url)

    server.serve(make_app(explorer, host=host), bound, on_start=announce)
    options.say(f"stopped; the decisions are in {file}", *_next_commands(file, run))


def _indexed(run: Path, side: Side, corpus: Path) -> Path:
    """The index of a corpus in the cache of the run; it is made if it is not there."""
    from bilex.explorer.corpus_index import ensure_index
    from bilex.run.files import CACHE, check_places

    check_places(run)
    index = run / CACHE / f"corpus-{side}.sqlite"
    with options.progress(f"index of {corpus}") as progress:
        if ensure_index(corpus, index, progress):
            options.say(f"{corpus}: indexed in {index}")
    return index


def _merge(file: Path, others: tuple[Path, ...], *, as_json: bool) -> None:
    """Add the decisions of other files, and say where reviewers differ."""
    from bilex.run.corrections import Corrections
    from bilex.run.merging import conflicts, merge

    with closing(Corrections(file)) as corrections:
        merged = {}
        for path in others:
            with closing(Corrections(path, reading=True)) as other:
                merged[str(path)] = merge(corrections, other, _name_of(path))
        differing = len(conflicts(corrections.of_reviewers()))
    for name, (added, known) in merged.items():
        options.say(f"{name}: {added:,} decisions added, {known:,} were here already")
    if differing:
        options.say(f"reviewers differ on {differing:,} pairs; bilex explore shows them under People")
    if as_json:
        options.print_json(
            {"merged": {name: result._asdict() for name, result in merged.items()}, "conflicts": differing}
        )


def _name_of(path: Path) -> str:
    """The name of a reviewer who has given none: that of the file, or of the run folder in which it is."""
    from bilex.run.decision import MAX_NAME_LENGTH

    name = path.resolve().parent.name if path.name == CORRECTIONS else path.stem
    return name[:MAX_NAME_LENGTH]


def _next_commands(file: Path, run: Path) -> list[str]:
    """Commands that use the decisions, if there are any."""
    with closing(open_corrections(file, run)) as corrections:
        if not any(corrections.counts().values()):
            return []
    in_run = file == run / CORRECTIONS
    induce_option, align_value = ("", str(run)) if in_run else (f" --corrections {file}", f"{file} --train DICT")
    return [
        f"to write a lexicon with them: bilex induce {run}{induce_option} --output FILE",
        f"to train an alignment on them: bilex align SOURCE TARGET --corrections {align_value} --output NEW",
    ]


def _announce(url: str, host: str, port: int, *, as_json: bool) -> None:
    from bilex.explorer.server import is_loopback

    if not is_loopback(host):
        options.say(
            f"warning: other machines can reach {host}. Anyone who opens the page can read the run and change its "
            "corrections, and the connection is not encrypted"
        )
    if port and f":{port}/" not in url:
        options.say(f"port {port} is in use; using the next free port")
    if as_json:
        options.print_json({"url": url})
    options.say("open this address in a browser; press Ctrl-C to stop the server", url)


def _export(run: Path, file: Path, output: Path, *, with_train: bool, force: bool, device: str, as_json: bool) -> None:
    from bilex.io.dictionary import format_line

    options.check_free(output, force=force)
    decided = open_corrections(file, run)
    if not (with_train or decided.judged()[0]):
        raise ExplorerError(f"{file}: no pair was accepted or corrected yet; make decisions with bilex explore {run}")
    lexicon = decided.lexicon(options.load_run(run, device).dictionary if with_train else None)
    if output == STDOUT:
        standard.write(format_line(number, *pair) for number, pair in enumerate(lexicon, 1))
    else:
        lexicon.write(output)
    if as_json and output != STDOUT:
        options.print_json({"pairs": len(lexicon), "written": str(output)})
    options.say(f"{len(lexicon):,} pairs written to {'standard output' if output == STDOUT else output}")


def open_corrections(file: Path, run: Path) -> Corrections:
    """The decisions in an existing file."""
    from bilex.run.corrections import Corrections

    if not file.is_file():
        raise ExplorerError(f"{file}: there are no corrections yet; make decisions with bilex explore {run}")
    return Corrections(file, reading=True)


def counted_decisions(counts: dict[str, int]) -> str:
    """The number of decisions of each kind, as text."""
    return ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
