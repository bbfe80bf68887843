"""The review of the lexicon: what has been decided about each entry, as columns that follow the decisions."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from bilex.run.decision import Decision, Mark, Verdict, right_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bilex.run.corrections import Corrections

Status = Literal["open", "accepted", "corrected", "rejected", "aside", "decided"]
"""aside: open, with a mark. decided: with a verdict."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MARKS: tuple[Mark, ...] = get_args(Mark)


class State(NamedTuple):
    """The state of an entry: its verdict, the right translations, and its mark and note."""

    verdict: Verdict = "open"
    targets: tuple[str, ...] = ()
    mark: Mark = ""
    note: str = ""
    reviewer: str = ""
    made: str = ""


class Review:
    """Verdict and mark of each entry. Decisions on other pairs of its source word count too: they add translations.

    translations(row): what the lexicon has for a source word. The decision on the first of them is the main one.
    """

    def __init__(
        self, corrections: Corrections, rows: Mapping[str, int], translations: Callable[[int], Sequence[str]]
    ) -> None:
        self._corrections, self._rows, self._translations = corrections, rows, translations
        self._verdicts, self._marks = np.zeros((2, len(rows)), dtype=np.int8)
        self._pairs: dict[str, dict[str, Decision]] = {}
        self._counts: Counter[Verdict] = Counter()
        self._place = 0
        self._lock = threading.RLock()

    def with_status(self, status: Status) -> NDArray[np.bool_]:
        """Mask of the entries with this status."""
        self._follow()
        is_open = self._verdicts == VERDICTS.index("open")
        mask: NDArray[np.bool_] = {
            "open": is_open & (self._marks == 0),
            "aside": is_open & (self._marks > 0),
            "decided": ~is_open,
        }.get(status, self._verdicts == VERDICTS.index(status) if status in VERDICTS else is_open)
        return mask

    def with_mark(self, mark: Mark) -> NDArray[np.bool_]:
        """Mask of the entries with this mark."""
        self._follow()
        found: NDArray[np.bool_] = self._marks == MARKS.index(mark)
        return found

    def state(self, source: str) -> State:
        """The state of the entry of a source word."""
        return self.states([source])[0]

    def states(self, sources: Iterable[str]) -> list[State]:
        """The states of the entries of some source words."""
        with self._lock:
            self._follow()
            return [self._state(source) for source in sources]

    def counts(self) -> dict[str, int]:
        """Number of words with a decision of each kind."""
        with self._lock:
            self._follow()
            return {verdict: self._counts[verdict] for verdict in ("accepted", "rejected", "corrected")}

    def decide(
        self,
        source: str,
        verdict: Verdict,
        targets: Iterable[str] = (),
        *,
        shown: Iterable[str] = (),
        mark: Mark | None = None,
        note: str | None = None,
        reviewer: str | None = None,
    ) -> State:
        """Decide about an entry. Other pairs of the word that were right are open again.

        A rejection is of all that the lexicon has for the word and of the candidates that the person was shown, until
        another decision is made.

        targets: the right translations, if the verdict is "corrected".
        """
        self._follow()
        suggestion, *others = self._translations(self._rows[source])
        more = dict.fromkeys(target for target in (*others, *shown) if target != suggestion)
        pairs = self._pairs.get(source, {})
        before = pairs.get(suggestion, Decision(source, suggestion, "open"))
        name = self._corrections.reviewer if reviewer is None else reviewer
        right = right_targets(suggestion, verdict, tuple(dict.fromkeys(targets)))
        made = [
            Decision(source, pair.suggestion, "open", (), pair.note, pair.mark, name)
            for pair in pairs.values()
            if pair.suggestion != suggestion
            and (pair.targets or (before.verdict == "rejected" != verdict and pair.suggestion in more))
        ]
        if verdict == "rejected":
            made += [Decision(source, target, "rejected", reviewer=name) for target in more]
        kept = (before.note if note is None else note, before.mark if mark is None else mark)
        self._corrections.decide_all([*made, Decision(source, suggestion, verdict, right, *kept, name)])
        return self.state(source)

    def accept(self, rows: Iterable[int], sources: list[str], reviewer: str | None = None) -> int:
        """Accept the suggestions of many entries in one step."""
        name = self._corrections.reviewer if reviewer is None else reviewer
        before, blank = self._corrections.current(), Decision("", "", "open")
        pairs = [(sources[row], self._translations(row)[0]) for row in rows]
        return self._corrections.decide_all(
            Decision(*pair, "accepted", pair[1:], before.get(pair, blank).note, reviewer=name) for pair in pairs
        )

    def _follow(self) -> None:
        """Take over what has changed in the decisions."""
        with self._lock:
            changed, self._place = self._corrections.changed_since(self._place)
            current = self._corrections.current()
            sources = {source for source, _ in changed}
            self._count(sources, -1)
            for source, suggestion in changed:
                decision = current.get((source, suggestion))
                pairs = self._pairs.setdefault(source, {})
                pairs.pop(suggestion, None)
                if decision is not None:
                    pairs[suggestion] = decision
            self._count(sources, 1)
            for source in sources:
                row = self._rows.get(source)
                if row is not None:
                    state = self._state(source)
                    self._verdicts[row], self._marks[row] = VERDICTS.index(state.verdict), MARKS.index(state.mark)

    def _count(self, sources: Iterable[str], step: Literal[1, -1]) -> None:
        for source in sources:
            for verdict in {decision.verdict for decision in self._pairs.get(source, {}).values()}:
                self._counts[verdict] += step

    def _state(self, source: str) -> State:
        pairs = self._pairs.get(source)
        if not pairs:
            return State()
        suggestion = self._translations(self._rows[source])[0]
        main = pairs.get(suggestion)
        latest = max(pairs.values(), key=lambda decision: decision.made)
        first = main.targets if main else ()
        targets = tuple(
            dict.fromkeys((*first, *(t for pair in pairs.values() if pair is not main for t in pair.targets)))
        )
        verdict = main.verdict if main else "open"
        if targets:
            verdict = "accepted" if targets == (suggestion,) else "corrected"
        about = main or Decision(source, suggestion, "open")
        return State(verdict, targets, about.mark, about.note, latest.reviewer, latest.made)
