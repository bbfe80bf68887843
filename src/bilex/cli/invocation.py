"""The command line that is running, and when its process started."""

from __future__ import annotations

import time
from typing import NamedTuple, Self

import click


class Invocation(NamedTuple):
    """The `obj` of the root context of click."""

    args: list[str]
    started: float
    """When the process started, or when a program called `main`, as a time of `time.perf_counter`."""
    own_process: bool
    """Whether the process ends with the command."""

    @classmethod
    def of_process(cls, args: list[str]) -> Self:
        """That of a process of its own. Until here, it has used one thread and has not waited."""
        return cls(args, time.perf_counter() - time.process_time(), own_process=True)

    @classmethod
    def of_program(cls, args: list[str]) -> Self:
        """That of a program that calls `main` with arguments."""
        return cls(args, time.perf_counter(), own_process=False)

    @classmethod
    def running(cls) -> Self:
        """That of the command that is running."""
        found: Self = click.get_current_context().find_root().obj
        return found

    @classmethod
    def has_own_process(cls) -> bool:
        """Whether a command is running in a process of its own."""
        context = click.get_current_context(silent=True)
        found = None if context is None else context.find_root().obj
        return isinstance(found, cls) and found.own_process
