"""Interrupted commands: signals become exceptions, so that they clean up; the message says what was saved."""

from __future__ import annotations

import shlex
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from bilex.cli.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIGNALS = ("SIGTERM", "SIGHUP")


class Terminated(SystemExit):
    """A signal asked the program to end. The exit code is the one that shells use for it."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """SIGTERM and SIGHUP raise `Terminated`, unless they have a handler already or are ignored (nohup)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    unhandled = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in unhandled:
        signal.signal(number, _raise_terminated)
    try:
        yield
    finally:
        for number in unhandled:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def note_on_interruption(note: Callable[[], str]) -> Iterator[None]:
    """If the block is interrupted, the message `bilex: interrupted` continues with this note."""
    try:
        yield
    except (KeyboardInterrupt, Terminated) as interruption:
        interruption.add_note(note())
        raise


def notes_of(interruption: BaseException | None) -> str:
    """The notes that `note_on_interruption` added."""
    return "".join(f"; {note}" for note in getattr(interruption, "__notes__", ()))


def this_command(option: str | None = None) -> str:
    """The command line that is running, quoted for a shell; `option` is added if it is missing."""
    args = list(Invocation.running().args)
    if option is not None and option not in args:
        args.insert(args.index("--") if "--" in args else len(args), option)
    return f"\n  {shlex.join(['bilex', *args])}"


def _raise_terminated(number: int, _: Any) -> NoReturn:
    raise Terminated(number)
