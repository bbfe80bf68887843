"""The library speaks Python, the command line its options."""

import ast
import re
from pathlib import Path

import click
import pytest

import bilex
from bilex import AlignmentError
from bilex.cli import cli
from bilex.cli.parameters import MENTION, OPTIONS, as_options

PACKAGE = Path(bilex.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]|[\s(]-[a-z]\b")
ALLOWED = (
    "bilex bench run ",  # the commands that a report tells, to make it again with
    "bilex bench report ",
    "ray start --head",  # commands of other programs
    "iconv -",
)
DOORS = {"align"}
"""What is mentioned and is a function, no parameter."""


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("read more words (`max_words`), or", "read more words (--max-words), or"),
        ("pass one as `train`, or `spelling='identical'`", "pass one as --train, or --identical"),
        ("give its encoding: `encoding='latin-1'`", "give its encoding: --encoding latin-1"),
        ("replace it with `replace=True`", "replace it with --force"),
        ("use a `mirror`; `plots=False` leaves them out", "use a --mirror; --no-plots leaves them out"),
        ("made with another `rng_seed`, `source`", "made with another --rng-seed, SOURCE"),
        ("make one with `align`", "make one with bilex align"),
        ("name the file: `words=...`", "name the file: `words=...` in Python"),
        ("look at it with `bilex inspect`", "look at it with `bilex inspect`"),
        ("'`train`' is no word, nor is a`train`", "'`train`' is no word, nor is a`train`"),
        ("data/`train`: damaged", "data/`train`: damaged"),
    ],
)
def test_both_renderings(python, shell):
    assert str(AlignmentError(python)) == python
    assert as_options(python) == shell
    assert as_options(shell) == shell or "in Python" in shell


def test_the_same_error_in_both_worlds(refused, files, run, tmp_path):
    from bilex import Alignment, align
    from bilex.run.folder import check_free

    tables = [files / "x.vec", files / "z.vec"]
    with pytest.raises(AlignmentError) as raised:
        align(*tables, method="procrustes")
    assert str(raised.value).endswith(
        "pass one as `train`, or use words that are spelt alike in both languages: `spelling='identical'`, or "
        "`spelling='numerals'`"
    )
    assert refused("align", *tables, "--method", "procrustes", "--output", tmp_path / "new").endswith(
        "pass one as --train, or use words that are spelt alike in both languages: --identical, or --numerals\n"
    )
    with pytest.raises(AlignmentError, match=r"or replace it with `replace=True`$"):
        check_free(run)
    assert refused("align", *tables, "--fast", "--output", run).endswith("or replace it with --force\n")
    with pytest.raises(AlignmentError, match=r"make one with `align`$"):
        Alignment.load(tmp_path)
    assert refused("translate", tmp_path, "word").endswith("make one with bilex align\n")


def test_no_text_of_the_library_has_an_option():
    found = [
        (file, text)
        for file, text in texts()
        if OPTION.search(text) and not any(command in text for command in ALLOWED)
    ]
    assert found == []


def test_what_is_mentioned_is_known():
    """A new parameter in a message has an option, or is known to have none."""
    only_in_python = {"format='glove'", "words=..."}
    mentioned = {found["mention"] for _, text in texts() for found in MENTION.finditer(text)}
    named = {mention.partition("=")[0] for mention in mentioned}
    keys = {"method", "rng_seed", "search", "settings", "source", "space", "spelling", "target"}  # of `check_same`
    assert {m for m in mentioned if not {m, m.partition("=")[0]} & OPTIONS.keys()} == only_in_python
    assert OPTIONS.keys() <= mentioned | named | keys
    assert named - DOORS <= parameters()


def test_options_are_those_of_the_commands():
    given = {option for text in OPTIONS.values() for option in re.findall(r"(?<!\w)--?[a-z][a-z-]*", text)}
    assert given <= set(options(cli, click.Context(cli)))


def texts():
    """Literals of the library but for docstrings, by file; the parts of an f-string are one text."""
    for path in PACKAGE.rglob("*.py"):
        file = path.relative_to(PACKAGE).as_posix()
        if file.startswith("cli/"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        left_out = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                left_out.update(node.values)
                parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
                yield file, "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
                yield file, node.value


def parameters():
    """Names of all parameters of functions in the library."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))
    return {node.arg for tree in trees for node in ast.walk(tree) if isinstance(node, ast.arg)}


def options(command, context):
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from options(command.get_command(context, name), context)
