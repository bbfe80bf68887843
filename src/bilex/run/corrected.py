"""An induced lexicon as a person has decided it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.entry import Entry, put_first

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bilex.entry import Origin
    from bilex.retrieval.base import Direction
    from bilex.run.corrections import Corrections


def corrected(
    entries: Iterable[Entry], corrections: Corrections, *, n: int = 1, direction: Direction = "forward"
) -> list[Entry]:
    """The entries with the decisions in them: right translations first, and none that was refused.

    All right ones are there, even if they are more than n, and so are given ones; found ones follow until a word has n.
    A right pair that is not among the entries has no score (nan). Words that only the person has translated come last.
    """
    _, refused = corrections.judged()
    right: dict[tuple[str, str], Entry] = {}
    for decision in corrections.current().values():
        for target in decision.targets:
            origin: Origin = "accepted" if target == decision.suggestion else "corrected"
            right.setdefault((decision.source, target), Entry(decision.source, target, origin=origin))
    if direction == "backward":
        right = {(t, s): entry._replace(source=t, target=s) for (s, t), entry in right.items()}
        refused = {(t, s) for s, t in refused}
    return put_first(entries, right.values(), n=n, refused=refused)
