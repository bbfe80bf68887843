"""The interactive prompt of bilex translate: each line is a word, which is translated at once."""

from __future__ import annotations

import bisect
import contextlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.cli.parameters import as_options
from bilex.errors import BilexError
from bilex.retrieval.sides import from_to, reverse
from bilex.storage.files import file_name
from bilex.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bilex.alignment import Alignment, Translation
    from bilex.retrieval.sides import Direction

HELP = """a word     show its translations
:swap      change the direction
:n NUMBER  set the number of translations per word
:help      show this help
:quit      quit; Ctrl-D does the same"""
COMMANDS = (":help", ":n ", ":quit", ":swap")
MAX_COMPLETIONS = 100
"""Words that Tab offers at most."""


@dataclass(frozen=True)
class Session:
    """The current settings of the prompt."""

    alignment: Alignment
    n: int
    direction: Direction
    translate: Callable[[str, int, Direction], Translation]
    show: Callable[[Translation, Alignment, Direction], None]

    @property
    def prompt(self) -> str:
        """Such as `en>fr: `."""
        sides = from_to(self.direction)
        return printable(">".join(self._name(side) for side in sides)) + ": "

    @cached_property
    def words(self) -> list[str]:
        """The words of the language translated from, sorted, without those that a terminal cannot show."""
        table = self.alignment.tables.along(self.direction).source
        return sorted({word for word in table.words if printable(word) == word})

    def answer(self, line: str) -> Session | None:
        """Execute a line, and return the next session; None to quit."""
        command, _, argument = line.partition(" ")
        if command in (":quit", ":q"):
            return None
        if command == ":swap":
            return replace(self, direction=reverse(self.direction))
        if command == ":n" and argument.strip().isdecimal() and int(argument) > 0:
            return replace(self, n=int(argument))
        if line.startswith(":") and len(line) > 1:
            options.say(HELP)
        else:
            self.show(self.translate(line, self.n, self.direction), self.alignment, self.direction)
        return self

    def _name(self, side: str) -> str:
        file = self.alignment.provenance["inputs"][side]["file"]
        return side if file is None else file_name(file).split(".")[0] or side


def run_prompt(session: Session, read: Callable[[str], str] = input) -> None:
    """Answer line by line, until :quit or Ctrl-D. Ctrl-C discards a line."""
    options.say("Type a word to translate, or :help. Press Ctrl-D to quit.")
    current: Session | None = session
    while current is not None:
        try:
            with _completion(current.words):
                line = read(current.prompt).strip()
            current = current.answer(line) if line else current
        except KeyboardInterrupt:
            click.echo()
        except BilexError as error:  # the next word may work
            options.say(as_options(str(error)))
        except EOFError:
            click.echo()
            return


def complete(words: list[str], beginning: str) -> list[str]:
    """Commands or words that start with this text; `words` are sorted."""
    if beginning.startswith(":"):
        return [command for command in COMMANDS if command.startswith(beginning)]
    first = bisect.bisect_left(words, beginning)
    found = words[first : first + MAX_COMPLETIONS]
    return [word for word in found if word.startswith(beginning)]


@contextlib.contextmanager
def _completion(words: list[str]) -> Iterator[None]:
    """Readline, where it is available: Tab completes, the arrow keys go through earlier lines."""
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    before = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(lambda text, state: next(iter(complete(words, text)[state:]), None))
    readline.set_completer_delims("\n")  # a word of the table may hold anything else
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before[0])
        readline.set_completer_delims(before[1])
