"""Write docs/reference/commands.md: the help of every command, as `bilex COMMAND --help` prints it at a fixed width.

python tools/update_command_docs.py
"""

from __future__ import annotations

from pathlib import Path

import click

from bilex.cli import COMMANDS, cli

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "commands.md"
WIDTH = 100
HEAD = """# Commands

Every command with all its options, as `bilex COMMAND --help` prints them. This page is made from the program by
`python tools/update_command_docs.py`.

Results go to standard output, everything else to standard error, so that output can be piped. What is read and written
there is UTF-8 ([terminals and pipes](formats.md#terminals-and-pipes)). The exit code is 0 when it is done, 1 when it
could not be done (the message says why and what to do), 2 when the command line was wrong, 130 after Ctrl-C.
A run folder (RUN) is what `bilex align` writes; `evaluate`, `report`, `similarity`, `translate`, `induce`, `export` and
`explore` read it.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8", newline="\n")


def page() -> str:
    """The text of the page."""
    group = _context(cli, "bilex")
    parts = [HEAD, _section("bilex", group)]
    for name in COMMANDS:
        command = cli.get_command(group, name)
        assert command is not None
        parts += _sections(command, f"bilex {name}", _context(command, name, group))
    return "\n".join(parts)


def _sections(command: click.Command, title: str, context: click.Context) -> list[str]:
    """The help of a command and of its subcommands."""
    parts = [_section(title, context)]
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        assert inner is not None
        parts += _sections(inner, f"{title} {name}", _context(inner, name, context))
    return parts


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    settings = {"help_option_names": ["-h", "--help"], "terminal_width": WIDTH, "max_content_width": WIDTH}
    return click.Context(command, info_name=name, parent=parent, **settings)


def _section(title: str, context: click.Context) -> str:
    text = "\n".join(line.rstrip() for line in context.get_help().splitlines())
    return f"## {title}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    main()
