"""bilex data fetch, bilex data list, bilex data sample."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.groups import SuggestingGroup

if TYPE_CHECKING:
    from bilex.data import Collection, Fetched
    from bilex.data.catalog import Kind
    from bilex.data.folder import Place

folder_option = click.option(
    "--folder",
    type=options.Utf8Path(path_type=Path, file_okay=False),
    help="Data folder.  [default: $BILEX_DATA, or bilex in the cache folder of the user]",
)


@click.group(cls=SuggestingGroup)
def data() -> None:
    """Fetch public word vectors and dictionaries, list them, and write the bundled sample as files."""


@data.command(short_help="Download vectors and dictionaries of a collection.")
@click.argument("collection")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--vectors", "only", flag_value="vectors", help="Only the vectors.")
@click.option("--dictionaries", "only", flag_value="dictionaries", help="Only the dictionaries.")
@click.option("--full", is_flag=True, help="Also the full dictionaries, from which train and test were taken.")
@click.option("--max-words", type=click.IntRange(min=1), help="Keep the first N words of vectors.  [default: 200000]")
@click.option("--whole", is_flag=True, help="Keep all words; this can take gigabytes.")
@folder_option
@click.option("--mirror", help="URL or folder with the same paths as the servers.  [default: $BILEX_MIRROR]")
@click.option("--checksums", type=options.FilePath, help="File with the expected checksums, as sha256sum prints them.")
@click.option("--verify", is_flag=True, help="Check that files fetched earlier have not changed.")
@click.option("--force", is_flag=True, help="Download files again that exist already.")
@click.option(
    "--accept-changed", is_flag=True, help="Accept a file that has changed on the server since the first download."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30,
    show_default=True,
    help="Seconds without data after which an attempt is given up.",
)
@options.as_json
def fetch(
    collection: str,
    names: tuple[str, ...],
    only: Kind | None,
    full: bool,
    max_words: int | None,
    whole: bool,
    folder: Path | None,
    mirror: str | None,
    checksums: Path | None,
    verify: bool,
    force: bool,
    accept_changed: bool,
    timeout: float,
    as_json: bool,
) -> None:
    """Download files of a COLLECTION (see `bilex data list`) for each NAME: a direction such as en-es, or a language.

    Files that exist already are not downloaded again. An interrupted download continues where it stopped.
    """
    if whole and max_words is not None:
        raise click.UsageError("--whole keeps all words; leave out --whole, or --max-words")
    from bilex.data import data_folder, get_collection
    from bilex.data import fetch as fetch_items
    from bilex.data.checks import read_checksums
    from bilex.data.download import Session

    chosen = get_collection(collection)
    items = chosen.items(names, only=only, full=full, whole=whole, max_words=max_words)
    for kind in dict.fromkeys(item.kind for item in items):
        options.say(f"{collection}, {kind}: licence {chosen.sources()[kind].licence}; {chosen.sources()[kind].cite}")
    with options.labelled_progress() as bar:
        fetched = fetch_items(
            items,
            folder=folder,
            mirror=mirror,
            checksums=read_checksums(checksums) if checksums else None,
            verify=verify,
            force=force,
            accept_changed=accept_changed,
            session=Session(timeout=timeout, tell=options.say, progress=bar),
        )
    _print_fetched(fetched, folder or data_folder(), as_json=as_json)


@data.command("list")
@folder_option
@options.as_json
def list_data(folder: Path | None, as_json: bool) -> None:
    """List the collections with their licences, and the files that were fetched already."""
    from bilex.data import all_collections, data_folder
    from bilex.data.folder import list_fetched

    root = folder or data_folder()
    collections = all_collections().values()
    local = {chosen.name: [_file(place) for place in list_fetched(root, chosen.name)] for chosen in collections}
    if as_json:
        known = {chosen.name: _about(chosen) | {"there": local[chosen.name]} for chosen in collections}
        options.print_json({"folder": str(root), "collections": known})
        return
    for chosen in collections:
        _print(chosen)
    _print_local(root, local)


@data.command("sample", short_help="Write the bundled sample as files, to try bilex with.")
@click.argument("pair", default="en-fr")
@click.option(
    "--output",
    type=options.Utf8Path(path_type=Path, file_okay=False, exists=True),
    default=".",
    help="Folder to write to.  [default: this folder]",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@options.as_json
def write_sample(pair: str, output: Path, force: bool, as_json: bool) -> None:
    """Write two tables of 5,700 word vectors and a dictionary in three parts: train, dev and test.

    PAIR is en-fr (the default) or en-fi. Nothing is downloaded.
    """
    from bilex import sample

    paths = sample.files_of(pair, output)
    for path in paths.values():
        options.check_free(path, force=force)
    sample.write(pair, output)
    if as_json:
        options.print_json({field: str(path) for field, path in paths.items()})
    else:
        options.show(f"written: {', '.join(map(str, paths.values()))}")


def _print_fetched(fetched: list[Fetched], root: Path, *, as_json: bool) -> None:
    if as_json:
        options.print_json({"folder": str(root), "files": [file.to_json() for file in fetched]})
        return
    for file in fetched:
        status = "fetched" if file.new else "exists already" if file.record else "exists already, not fetched by bilex"
        options.show(f"{file.path}  {_size(file.path.stat().st_size)}  {status}")


def _about(chosen: Collection) -> dict[str, Any]:
    about: dict[str, Any] = {"title": chosen.title, "max_words": chosen.max_words}
    for kind, source in chosen.sources().items():
        about[kind] = asdict(source)
    return about | {"languages": chosen.languages, "groups": chosen.groups}


def _print(chosen: Collection) -> None:
    options.show(f"{chosen.name} - {chosen.title}")
    for kind, source in chosen.sources().items():
        options.show(f"  {kind}: {', '.join(source.files.values())}")
        options.show(f"    {source.size}; {source.licence}")
        options.show(f"    {source.cite}")
    for name, text in (*chosen.languages.items(), *chosen.groups.items()):
        options.show(f"  {name.replace('_', ' ')}: {text}")
    options.show("")


def _print_local(root: Path, local: dict[str, list[dict[str, Any]]]) -> None:
    rows = [
        (f"{name}/{file['file']}", file["fetched_at"] or file["status"], _size(file["bytes"]))
        for name, files in local.items()
        for file in files
    ]
    options.show(f"in {root}: {'nothing yet' if not rows else ''}".rstrip())
    if rows:
        options.print_table(["file", "fetched", "size"], rows, left=2, fold=False)


def _file(place: Place) -> dict[str, Any]:
    record = place.current()
    return {
        "file": place.path.name,
        "status": "fetched"
        if record
        else "changed since it was fetched"
        if place.records()
        else "not fetched by bilex",
        "bytes": place.path.stat().st_size,
        "words": record.words if record else None,
        "sha256": record.sha256 if record else None,
        "fetched_at": record.fetched_at if record else None,
    }


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
