"""An induced lexicon with the decisions of a person applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.entry import Entry, put_first

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bilex.entry import Origin
    from bilex.retrieval.sides import Direction
    from bilex.run.corrections import Corrections


def corrected(
    entries: Iterable[Entry], corrections: Corrections, *, n: int = 1, direction: Direction = "forward"
) -> list[Entry]:
    """Apply the decisions to the entries: right translations first, without refused pairs.

    All right and all given entries are included, even if they are more than n; found entries follow until a word has n.
    A right pair that is not among the entries has the score nan. Words that only the person has translated come last.
    """
    _, refused = corrections.judged()
    right: dict[tuple[str, str], Entry] = {}
    for decision in corrections.in_order():
        for target in decision.targets:
            origin: Origin = "accepted" if target == decision.suggestion else "corrected"
            right.setdefault((decision.source, target), Entry(decision.source, target, origin=origin))
    if direction == "backward":
        right = {(t, s): entry._replace(source=t, target=s) for (s, t), entry in right.items()}
        refused = {(t, s) for s, t in refused}
    return put_first(entries, right.values(), n=n, refused=refused)
