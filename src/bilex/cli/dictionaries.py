"""Options that say how to read a dictionary, and `bilex inspect` of one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from bilex.cli import options
from bilex.cli.parameters import as_options
from bilex.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bilex.io.sheets.understanding import Understanding
    from bilex.lexicon import Lexicon

SHOWN_PAIRS = 10
CELLS = click.Choice(["split", "whole"])
SEPARATORS = click.Choice(["tab", "semicolon", "comma", "space"])


def format_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a dictionary. The command gets those that were given as `how`, for `Lexicon.read`."""

    @functools.wraps(command)
    def with_format(*args: Any, **kwargs: Any) -> Any:
        given = {name: kwargs.pop(name) for name in ("columns", "sheet", "separator", "encoding", "header", "cells")}
        return command(*args, how={name: value for name, value in given.items() if value is not None}, **kwargs)

    for option in (
        click.option("--cells", type=CELLS, metavar="HOW", help="split: take lists in a cell apart. whole: do not."),
        click.option("--header/--no-header", default=None, help="Whether a dictionary's first row is a heading."),
        click.option("--encoding", metavar="NAME", help="Encoding of a text, such as cp1250."),
        click.option(
            "--separator", type=SEPARATORS, metavar="NAME", help="Separator of a text: tab, semicolon, comma or space."
        ),
        click.option("--sheet", metavar="NAME", help="Sheet of a workbook, by name or number."),
        click.option("--columns", metavar="1,3", help="Columns of source and target in a dictionary, or headings."),
    ):
        with_format = option(with_format)
    return with_format


def inspect_dictionary(path: Path, how: dict[str, Any], *, as_json: bool) -> None:
    """Print how a dictionary is understood, its first pairs, and what is left out."""
    from bilex.lexicon import Lexicon

    lexicon = Lexicon.read(path, **how)
    if as_json:
        options.print_json(_to_json(path, lexicon), indent=2)
        return
    options.show(str(path))
    for name, value in _facts(lexicon).items():
        options.show(f"{name:<12} {value}")
    options.show("first pairs")
    options.show(*(f"  {source} -> {target}" for source, target in lexicon.pairs[:SHOWN_PAIRS]))
    doubts = _left_out(lexicon)
    options.show("Left out or doubtful:" if doubts else "Nothing was left out.", *(f"  {line}" for line in doubts))


def _facts(lexicon: Lexicon) -> dict[str, str]:
    report = lexicon.report
    assert report is not None  # it was read from a file
    understood = report.understood
    text = f"text, separated by {report.separator}, {report.encoding}"
    phrases = sum(" " in source or " " in target for source, target in lexicon)
    return {
        "format": text if understood is None or understood.sheet is None else _workbook(understood),
        **(
            {"columns": "the first is the source, the second the target"}
            if understood is None
            else _columns(understood)
        ),
        "cells": "read as they are" if understood is None else understood.cells() or "one word or phrase in each",
        "rows": f"{report.lines:,}, of which {report.blank:,} are blank and {report.comments:,} comments",
        "pairs": f"{len(lexicon):,} of {len(lexicon.sources):,} source words",
        "phrases": f"{phrases:,} pairs have several words on a side",
    }


def _workbook(understood: Understanding) -> str:
    others = ", ".join(map(repr, understood.other_sheets))
    return f"{understood.format}, sheet {understood.sheet!r}{f' (the others are {others})' if others else ''}"


def _columns(understood: Understanding) -> dict[str, str]:
    unread = ", ".join(map(str, understood.unread))
    return {
        "heading": f"row {understood.heading_row}" if understood.heading_row else "none",
        "source": str(understood.source),
        "target": ", ".join(map(str, understood.targets)),
        **({"not read": unread} if unread else {}),
    }


def _left_out(lexicon: Lexicon) -> list[str]:
    report = lexicon.report
    assert report is not None
    rows = [] if report.understood is None else list(map(str, report.understood.left_out))
    return rows + [as_options(doubt) for doubt in report.doubts]


def _to_json(path: Path, lexicon: Lexicon) -> dict[str, Any]:
    report = lexicon.report
    assert report is not None
    return {
        "path": printable(str(path)),
        "kind": "dictionary",
        "pairs": len(lexicon),
        "source_words": len(lexicon.sources),
        "first_pairs": [list(pair) for pair in lexicon.pairs[:SHOWN_PAIRS]],
        "report": report.to_json(),
    }
