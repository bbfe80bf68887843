"""What a person sees while an alignment is learnt: one bar, and with --verbose every record of the method as well."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bilex.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bilex.training.trace import Record

P_AT_1 = ("dev_p_at_1", "p_at_1")
"""What methods call the figure of held-out words: while they train, and in the end."""


class Training:
    """Shows what a trace is told: its listener and its watcher."""

    def __init__(self, show: Callable[[str, float, float], None], *, verbose: bool) -> None:
        self._show, self._verbose = show, verbose
        self._p_at_1: float | None = None

    def hear(self, record: Record) -> None:
        """Take a record: an epoch, say."""
        if self._verbose:
            options.say("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in record.items()))
        found = [record[name] for name in P_AT_1 if isinstance(record.get(name), float)]
        self._p_at_1 = float(found[0] or 0) if found else self._p_at_1

    def watch(self, label: str, share: float) -> None:
        """Move the bar."""
        self._show(label if self._p_at_1 is None else f"{label}, held-out P@1 {self._p_at_1:.1f} %", share, 1)


@contextmanager
def shown(*, verbose: bool) -> Iterator[Training]:
    """The bar, at a terminal only; records go to stderr wherever that leads."""
    with options.labelled_progress("getting ready") as show:
        yield Training(show, verbose=verbose)
