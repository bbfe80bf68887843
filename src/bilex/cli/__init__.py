"""The command line: one file per group of commands, imported only when one of them is called."""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from bilex import __version__
from bilex.cli import garbage
from bilex.cli.groups import SuggestingGroup
from bilex.cli.interruption import Terminated, notes_of, signals_as_exceptions
from bilex.cli.invocation import Invocation
from bilex.cli.parameters import as_options
from bilex.errors import BilexError
from bilex.io.standard import configure_streams
from bilex.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.shell_completion import CompletionItem

OUT_OF_MEMORY = ("out of memory", "DefaultCPUAllocator")
"""Parts of the messages by which torch reports too little memory; it raises a plain RuntimeError."""
COMMANDS = {
    "demo": ("demo", "Align the bundled sample data and show the results."),
    "data": ("data", "Fetch public word vectors and dictionaries; write the sample."),
    "inspect": ("tables", "Show what a file of word vectors contains."),
    "convert": ("tables", "Convert word vectors from one format to another."),
    "methods": ("methods", "List the methods, or the settings of one."),
    "align": ("align", "Map two sets of word vectors into one space."),
    "tune": ("tune", "Search for good settings of a method."),
    "evaluate": ("evaluate", "Measure an alignment against a dictionary."),
    "report": ("report", "Write a page about an alignment."),
    "similarity": ("evaluate", "Correlate cosines in the shared space with human judgements."),
    "translate": ("translate", "Translate words."),
    "induce": ("translate", "Write the whole bilingual lexicon."),
    "export": ("translate", "Write the mapped word vectors."),
    "explore": ("explore", "Browse an alignment and correct its lexicon."),
    "bench": ("bench", "Run benchmarks on many language pairs, and report the results."),
    "doctor": ("doctor", "Show the installed versions, and check that bilex works."),
    "completion": ("completion", "Print a shell script that completes the commands of bilex."),
}
"""The module of each command, and its line in the help. They are listed here so that `bilex --help` imports none."""


class LazyGroup(SuggestingGroup):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands, in the order in which a new user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        with garbage.importing():
            command: click.Command = getattr(importlib.import_module(f"bilex.cli.{module}"), cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that start with this text, without importing them; then the options."""
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
    """Run a command. Exit code 0: done; 1: failed, the reason is on stderr; 2: wrong usage.

    A code above 128 means that a signal ended the command; 130 is Ctrl-C.
    """
    configure_streams()
    if args is None:
        atexit.register(gc.freeze)  # the objects are left to the operating system, not collected one by one
    try:
        with signals_as_exceptions(), _plain_warnings():
            _run(args)
    except BilexError as error:
        _fail(as_options(str(error)))
    except BrokenPipeError:  # the reader of the pipe has closed it
        _discard_output()
        sys.exit(0)
    except OSError as error:
        _fail_with_os_error(error)
    except (MemoryError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or any(text in str(error) for text in OUT_OF_MEMORY)):
            raise
        _fail("out of memory: read fewer words (--max-words), or use a machine with more memory")


def _run(args: list[str] | None) -> None:
    try:
        called = Invocation.of_process(sys.argv[1:]) if args is None else Invocation.of_program(args)
        code: Any = cli.main(args, prog_name="bilex", standalone_mode=False, obj=called)
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        _print_error(message.getvalue())
        sys.exit(error.exit_code)
    except Terminated as ended:
        _print_error(f"bilex: ended by {ended.name}{notes_of(ended)}\n")
        raise
    except SystemExit:  # click raises it when the reader has closed the pipe, which is no failure
        if "PacifyFlush" in type(sys.stdout).__name__:
            sys.exit(0)
        raise
    except click.Abort as abort:
        _print_error(f"bilex: interrupted{notes_of(abort.__cause__)}\n")
        sys.exit(130)
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show a FutureWarning, such as for a renamed setting, as a line without Python's file name; each message once."""
    previous, shown = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, FutureWarning):
            previous(message, category, *where, **more)
        elif str(message) not in shown:
            from bilex.cli import options

            shown.add(str(message))
            options.warn(str(message))

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = previous


def _fail_with_os_error(error: OSError) -> None:
    """Report the reason of the system. A full disk without a file name is the disk of standard output."""
    from bilex.storage.disk import DISK_FULL_ERRORS, describe_os_error

    disk_full = error.errno in DISK_FULL_ERRORS
    if disk_full and error.filename is None:
        _discard_output()
    name = error.filename or ("standard output" if disk_full else None)
    _fail(f"{name}: {describe_os_error(error)}" if name else str(error))


def _discard_output() -> None:
    """Send what is still buffered for standard output to nowhere, as Python writes it once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> None:
    _print_error(f"bilex: {message}\n")
    sys.exit(1)


def _print_error(text: str) -> None:
    sys.stderr.write(printable(text, keep="\n"))
