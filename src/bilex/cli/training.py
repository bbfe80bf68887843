"""Progress of a training: one bar, and with --verbose every record of the method."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bilex.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bilex.training.trace import Record

P_AT_1 = ("dev_p_at_1", "p_at_1")
"""Names of the P@1 on held-out words in the records: during training, and at the end."""


class Training:
    """The listener and the watcher of a trace."""

    def __init__(self, show: Callable[[str, float, float], None], *, verbose: bool) -> None:
        self._show, self._verbose = show, verbose
        self._p_at_1: float | None = None

    def hear(self, record: Record) -> None:
        """Take a record, such as that of an epoch."""
        if self._verbose:
            options.say("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in record.items()))
        found = [record[name] for name in P_AT_1 if isinstance(record.get(name), float)]
        self._p_at_1 = float(found[0] or 0) if found else self._p_at_1

    def watch(self, label: str, share: float) -> None:
        """Update the bar."""
        self._show(label if self._p_at_1 is None else f"{label}, held-out P@1 {self._p_at_1:.1f} %", share, 1)


@contextmanager
def shown(*, verbose: bool) -> Iterator[Training]:
    """The bar is shown only at a terminal; records always go to stderr."""
    with options.labelled_progress("preparing") as show:
        yield Training(show, verbose=verbose)
