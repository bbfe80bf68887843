"""Ending a command early: signals become exceptions, so that all is tidied up; a person is told what is kept."""

from __future__ import annotations

import shlex
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIGNALS = ("SIGTERM", "SIGHUP")


class Terminated(SystemExit):
    """The program was told to end by a signal; the code is the one that shells give it."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


@contextmanager
def orderly_end() -> Iterator[None]:
    """SIGTERM and SIGHUP raise `Terminated`, unless somebody handles them already, or has them ignored (nohup)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def telling(what_is_kept: Callable[[], str]) -> Iterator[None]:
    """If the work in it is interrupted, `bilex: interrupted` goes on with what this says."""
    try:
        yield
    except (KeyboardInterrupt, Terminated) as interruption:
        interruption.add_note(what_is_kept())
        raise


def told(interruption: BaseException | None) -> str:
    """What `telling` has to say."""
    return "".join(f"; {note}" for note in getattr(interruption, "__notes__", ()))


def this_command(option: str | None = None) -> str:
    """The command that is running, for a shell, with an option if it has not got it."""
    args: list[str] = list(click.get_current_context().find_root().obj)
    if option is not None and option not in args:
        args.insert(args.index("--") if "--" in args else len(args), option)
    return f"\n  {shlex.join(['bilex', *args])}"


def _end(number: int, _: Any) -> NoReturn:
    raise Terminated(number)
