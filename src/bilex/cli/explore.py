"""bilex explore."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.errors import ExplorerError
from bilex.io import standard
from bilex.io.standard import STDOUT

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.run.corrections import Corrections

CORRECTIONS = "corrections.sqlite"
PORT = 8421  # kept here so that the help need not import it; a test holds it equal to that of bilex.explorer


@click.command()
@click.argument("run", type=options.RunPath)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port, or the next that is free; 0 for any.",
)
@click.option("--open/--no-open", "show", default=True, help="Open the page in a browser.")
@click.option("--corrections", type=options.OutputPath, help=f"SQLite file of decisions.  [default: RUN/{CORRECTIONS}]")
@click.option(
    "--export",
    "export_to",
    type=options.OutputPath,
    help="Write accepted and corrected pairs to a file, - for standard output, and show no page.",
)
@click.option("--with-train", is_flag=True, help="Export the run's own dictionary too, without what was rejected.")
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
    with_train: bool,
    force: bool,
    k: int,
    device: str,
    as_json: bool,
) -> None:
    """Look into the alignment in RUN on a local web page, and accept, reject or correct its translations.

    Only this machine can open the page, unless --host says otherwise. Decisions are kept in the run folder at once:
    `bilex induce RUN` puts them in, and `bilex align --corrections RUN` learns from them. What --export writes is read
    by `bilex align --train`. End it with Ctrl-C.
    """
    from bilex.run.folder import describe

    describe(run)  # refuse what is no run before anything is made in it
    file = corrections or run / CORRECTIONS
    if export_to is not None:
        _export(run, file, export_to, with_train=with_train, force=force, device=device, as_json=as_json)
        return
    if with_train or force:
        raise click.UsageError("--with-train and --force belong to --export FILE")
    _serve(run, file, host, port, k=k, show=show, device=device, as_json=as_json)


def _serve(run: Path, file: Path, host: str, port: int, *, k: int, show: bool, device: str, as_json: bool) -> None:
    from bilex.explorer import server

    server.require_packages()
    from bilex.explorer.app import make_app
    from bilex.explorer.explorer import Explorer
    from bilex.run.corrections import Corrections

    kept = Corrections(file)
    bound = server.listen(host, port)
    explorer = Explorer(options.load_run(run, device), kept, k=k)
    url = server.address(bound)

    def tell() -> None:
        _tell(url, host, port, as_json=as_json)
        if show:
            server.open_browser(url)

    server.serve(make_app(explorer, host=host), bound, on_start=tell)
    options.say(f"ended; decisions are in {file}", *_next(file, run))


def _next(file: Path, run: Path) -> list[str]:
    """What to do with the decisions, if there are any."""
    with closing(open_corrections(file, run)) as kept:
        if not any(kept.counts().values()):
            return []
    in_run = file == run / CORRECTIONS
    elsewhere, learnt = ("", str(run)) if in_run else (f" --corrections {file}", f"{file} --train DICT")
    return [
        f"a lexicon with them: bilex induce {run}{elsewhere} --output FILE",
        f"an alignment that learns from them: bilex align SOURCE TARGET --corrections {learnt} --output NEW",
    ]


def _tell(url: str, host: str, port: int, *, as_json: bool) -> None:
    from bilex.explorer.server import is_loopback

    if not is_loopback(host):
        options.say(
            f"warning: {host} can be reached from other machines: whoever opens the page can read the run and change "
            "its corrections, and what is sent is not encrypted"
        )
    if port and f":{port}/" not in url:
        options.say(f"port {port} is taken; using the next that is free")
    if as_json:
        options.print_json({"url": url})
    options.say("the page is at this address; Ctrl-C ends it", url)


def _export(run: Path, file: Path, output: Path, *, with_train: bool, force: bool, device: str, as_json: bool) -> None:
    from bilex.io.dictionary import format_line

    options.check_free(output, force=force)
    decided = open_corrections(file, run)
    if not (with_train or decided.judged()[0]):
        raise ExplorerError(f"{file}: no pair was accepted or corrected yet; decide some with bilex explore {run}")
    lexicon = decided.lexicon(options.load_run(run, device).dictionary if with_train else None)
    if output == STDOUT:
        standard.write(format_line(number, *pair) for number, pair in enumerate(lexicon, 1))
    else:
        lexicon.write(output)
    if as_json and output != STDOUT:
        options.print_json({"pairs": len(lexicon), "written": str(output)})
    options.say(f"{len(lexicon):,} pairs written to {'standard output' if output == STDOUT else output}")


def open_corrections(file: Path, run: Path) -> Corrections:
    """The decisions in a file that exists."""
    from bilex.run.corrections import Corrections

    if not file.is_file():
        raise ExplorerError(f"{file}: there are no corrections yet; make some with bilex explore {run}")
    return Corrections(file, reading=True)


def counted_decisions(counts: dict[str, int]) -> str:
    """How many there are of each kind."""
    return ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
