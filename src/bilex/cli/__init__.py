"""The command line: one file per group of commands, imported only when one of them is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from bilex import __version__
from bilex.cli.groups import SuggestingGroup
from bilex.cli.interruption import Terminated, orderly_end, told
from bilex.cli.parameters import as_options
from bilex.errors import BilexError
from bilex.io.standard import configure_streams
from bilex.text.printable import printable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OUT_OF_MEMORY = ("out of memory", "DefaultCPUAllocator")
"""What torch says, whose errors are of a kind that others have too."""
COMMANDS = {
    "demo": ("demo", "Align the bundled sample and show what comes out."),
    "data": ("data", "Fetch public word vectors and dictionaries."),
    "inspect": ("tables", "Say what a file of word vectors holds."),
    "convert": ("tables", "Convert word vectors from one format to another."),
    "methods": ("methods", "List the methods, or the settings of one."),
    "align": ("align", "Map two sets of word vectors into one space."),
    "tune": ("tune", "Search good settings of a method."),
    "evaluate": ("evaluate", "Measure an alignment against a dictionary."),
    "report": ("report", "Write a page about an alignment."),
    "similarity": ("evaluate", "Correlate cosines in the shared space with human judgements."),
    "translate": ("translate", "Translate words."),
    "induce": ("translate", "Write the whole bilingual lexicon."),
    "export": ("translate", "Write the mapped word vectors."),
    "explore": ("explore", "Look into an alignment and correct its lexicon."),
    "bench": ("bench", "Measure systems on many language pairs, and report on them."),
    "doctor": ("doctor", "Say what this installation is made of, and whether it works."),
    "completion": ("completion", "Print what makes a shell complete the commands of bilex."),
}
"""Where each command lives, and its line in the help (kept here so that `bilex --help` need not import them)."""


class LazyGroup(SuggestingGroup):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands in the order of a first hour."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(f"bilex.cli.{module}"), cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without importing them; then options."""
        from click.shell_completion import CompletionItem

        own = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return own + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The commands with one line each."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bilex")
def cli() -> None:
    """Bilingual lexicon induction: from two sets of word vectors and a small dictionary to a large one.

    Start with `bilex demo`, then `bilex align SOURCE TARGET --train DICT --output RUN` and `bilex translate RUN WORD`.
    """


def main(args: list[str] | None = None) -> None:
    """Run a command. Exit code 0: done; 1: it could not be done, and why is on stderr; 2: wrong usage.

    Above 128: ended by a signal, 130 by Ctrl-C.
    """
    configure_streams()
    try:
        with orderly_end():
            _run(args)
    except BilexError as error:
        _fail(as_options(str(error)))
    except BrokenPipeError:  # the reader of a pipe has had enough
        _write_no_more()
        sys.exit(0)
    except OSError as error:
        _fail_to_write(error)
    except (MemoryError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or any(sign in str(error) for sign in OUT_OF_MEMORY)):
            raise
        _fail("out of memory: read fewer words (--max-words), or use a machine with more")


def _run(args: list[str] | None) -> None:
    try:
        given = sys.argv[1:] if args is None else args
        code: Any = cli.main(args, prog_name="bilex", standalone_mode=False, obj=given)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        _tell(shown.getvalue())
        sys.exit(error.exit_code)
    except Terminated as ended:
        _tell(f"bilex: ended by {ended.name}{told(ended)}\n")
        raise
    except SystemExit:  # click's own, when the reader of a pipe has had enough: that is no failure
        if "PacifyFlush" in type(sys.stdout).__name__:
            sys.exit(0)
        raise
    except click.Abort as abort:
        _tell(f"bilex: interrupted{told(abort.__cause__)}\n")
        sys.exit(130)
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else 0)


def _fail_to_write(error: OSError) -> None:
    """Say what the system says; without the name of a file, a full disk is that of standard output."""
    from bilex.storage.disk import DISK_FULL_ERRORS, describe_os_error

    full = error.errno in DISK_FULL_ERRORS
    if full and error.filename is None:
        _write_no_more()
    name = error.filename or ("standard output" if full else None)
    _fail(f"{name}: {describe_os_error(error)}" if name else str(error))


def _write_no_more() -> None:
    """Let Python not try it once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> None:
    _tell(f"bilex: {message}\n")
    sys.exit(1)


def _tell(text: str) -> None:
    sys.stderr.write(printable(text, keep="\n"))
