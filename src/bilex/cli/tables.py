"""`bilex inspect` and `bilex convert`: describe a file, and convert word vectors to another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.dictionaries import format_options, inspect_dictionary
from bilex.text.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.io.inspection import Inspection

max_words_option = click.option("--max-words", type=click.IntRange(min=1), help="Read only the first N usable words.")
encoding_option = click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the words.")


@click.command()
@click.argument("file", type=click.Path())
@max_words_option
@format_options
@options.as_json
def inspect(file: str, max_words: int | None, as_json: bool, how: dict[str, Any]) -> None:
    """Show what a FILE of word vectors, or a dictionary, contains, and which problems it has.

    Of a dictionary, --columns, --sheet, --separator, --header and --cells say how to read it. Other commands that read
    dictionaries have the same options. Without them it is found out, and shown here with the first pairs.
    """
    from pathlib import Path

    from bilex.io.inspection import inspect_table
    from bilex.io.sheets.recognize import is_dictionary

    path = Path(file)
    if how.keys() - {"encoding"} or is_dictionary(path):
        inspect_dictionary(path, how, as_json=as_json)
        return
    inspection = inspect_table(path, max_words=max_words, encoding=how.get("encoding", "utf-8"))
    if as_json:
        options.print_json(inspection.to_json(), indent=2)
    else:
        show(inspection)


@click.command()
@click.argument("source", metavar="IN", type=click.Path())
@click.argument("target", metavar="OUT", type=options.OutputPath)
@max_words_option
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float16"]),
    default="float32",
    show_default=True,
    help="float16 halves the size of .npz and .safetensors.",
)
@encoding_option
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def convert(source: str, target: Path, max_words: int | None, dtype: str, encoding: str, force: bool) -> None:
    """Read IN, leave out unusable lines, and write OUT.

    The suffix of OUT sets the format: .vec, .txt (no header), .bin (word2vec), .npz or .safetensors, the fastest to
    open. The first three may be followed by .gz.
    """
    from bilex.io.write import choose_format
    from bilex.table import EmbeddingTable

    choose_format(target, None)  # refuse a name before any work is done
    options.check_free(target, force=force)
    table = EmbeddingTable.read(source, max_words=max_words, encoding=encoding)
    options.say(*(f"{source}: {line}" for line in table.report.summary()))
    if table.subwords is not None:
        options.say(f"{source}: the subwords are not written to {target}, only the words of the table")
    table.write(target, dtype=dtype)
    options.say(f"{target}: {len(table):,} words of {table.dim} dimensions")


def show(inspection: Inspection) -> None:
    """Print a table of facts, then the problems."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    grid = Table.grid(padding=(0, 2))
    for name, value in facts(inspection).items():
        grid.add_row(Text(name, "bold"), Text(printable(value)))
    console.print(Text(printable(str(inspection.path)), "bold"), grid, sep="\n")
    repairs = inspection.report.summary()
    doubts = [f"the table {doubt}" for doubt in inspection.doubtful_rows]
    otherwise = "Suspicious:" if doubts else "No problems: nothing was left out."
    console.print(Text("Left out or wrong:" if repairs else otherwise, "bold"))
    for line in repairs + doubts:
        console.print(Text(printable(f"  {line}")))


def facts(inspection: Inspection) -> dict[str, str]:
    """The facts by name, as text."""
    header, norms, spelling = inspection.header, inspection.norms, inspection.spelling
    return {
        "format": inspection.format + (", gzipped" if inspection.compressed else ""),
        "size": f"{inspection.bytes / 1e6:,.1f} MB",
        "rows": f"{inspection.rows:,} kept of {inspection.report.lines:,} read",
        "dimension": str(inspection.dim),
        "header": f"says {header.words:,} words of {header.width} dimensions" if header else "none",
        "duplicates": f"{inspection.report.count('duplicate'):,}",
        "letter case": f"{spelling.with_upper_case:.1%} of words have upper case; "
        f"{spelling.differ_only_by_case:,} differ from another only by case",
        "norms": f"{norms.smallest:.4g} smallest, {norms.median:.4g} median, {norms.largest:.4g} largest; "
        f"{norms.zero:,} zero vectors",
        "encoding": f"{spelling.undecodable:,} words undecodable; "
        f"{'a' if spelling.byte_order_mark else 'no'} byte order mark",
        "spaces": f"{spelling.with_spaces:,} words with a space inside, "
        f"{spelling.with_other_spaces:,} with a no-break or other space",
        "subwords": "yes, words outside the table get vectors too" if inspection.subwords else "no",
        "order": f"the table {inspection.doubtful_order}" if inspection.doubtful_order else "seems to be by frequency",
        "first words": " ".join(inspection.first_words),
    }
