"""Decisions of several people: merge their files, find where they differ, and measure how far they agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bilex.run.corrections import Corrections
    from bilex.run.decision import Decision, Verdict


_ByPair: TypeAlias = "dict[tuple[str, str], Decision]"
_VERDICTS: tuple[Verdict, ...] = ("corrected", "accepted", "rejected")


class Merged(NamedTuple):
    """What a merge has done: decisions added, and those that were here already."""

    added: int
    known: int


@dataclass(frozen=True)
class Conflict:
    """A pair that reviewers have judged differently, with the latest decision of each."""

    source: str
    suggestion: str
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of two reviewers on the source words of which both have judged the same pairs.

    κ = (p − c) / (1 − c), with p the share of words with the same verdict, and c the share expected by chance from how
    often each gives each verdict (Cohen, 1960). same: words with the same verdict and the same right translations. The
    verdict on a word is that on its pair, and on several pairs of it the first of corrected, accepted, rejected.
    """

    reviewers: tuple[str, str]
    words: int
    same: int
    kappa: float | None
    """None if it is not defined, because both have given one and the same verdict only."""


def merge(corrections: Corrections, other: Corrections, name: str) -> Merged:
    """Add the valid decisions of another file, as one step. Those without a reviewer are given this name.

    Nothing that was decided here changes: a merged decision is valid only where there is none.
    """
    known: dict[Decision, list[Decision]] = {}
    for decision in corrections.of_reviewers():
        known.setdefault(_without_name(decision), []).append(decision)
    theirs = other.of_reviewers()
    new = [
        decision._replace(reviewer=decision.reviewer or name, merged=True)
        for decision in theirs
        if not any(_by_same_person(ours, decision, name) for ours in known.get(_without_name(decision), ()))
    ]
    new.sort(key=lambda decision: decision.made)
    corrections.decide_all(new)
    return Merged(len(new), len(theirs) - len(new))


def conflicts(decisions: Iterable[Decision]) -> list[Conflict]:
    """Pairs with different judgements, unless a decision was made here after all merged ones.

    decisions: as `Corrections.of_reviewers` lists them, in the order in which they came into the file.
    """
    found = []
    for pair, judged in _by_pair(decisions).items():
        if judged[-1].merged and len({decision.judgement for decision in judged}) > 1:
            found.append(Conflict(*pair, tuple(judged)))
    return found


def agreements(decisions: Iterable[Decision]) -> list[Agreement]:
    """The agreement of each two reviewers who have judged the same pairs.

    The unit is the word, since whoever rejects an entry rejects several pairs at once.
    """
    by_name: dict[str, dict[tuple[str, str], Decision]] = {}
    for pair, judged in _by_pair(decisions).items():
        for decision in judged:
            by_name.setdefault(decision.reviewer, {})[pair] = decision
    return [
        _agreement((a, b), of_a, of_b)
        for (a, of_a), (b, of_b) in combinations(sorted(by_name.items()), 2)
        if not of_a.keys().isdisjoint(of_b)
    ]


def reviewer_counts(decisions: Iterable[Decision]) -> Iterator[tuple[str, Counter[Verdict], str]]:
    """For each reviewer: the name, the number of words with each verdict, and the time of the last decision."""
    by_name: dict[str, list[Decision]] = {}
    for decision in decisions:
        by_name.setdefault(decision.reviewer, []).append(decision)
    for name, made in by_name.items():
        latest = {decision.pair: decision for decision in made}
        counts = Counter(verdict for _, verdict in {(d.source, d.verdict) for d in latest.values()})
        yield name, counts, max(decision.made for decision in made)


def _agreement(names: tuple[str, str], of_a: _ByPair, of_b: _ByPair) -> Agreement:
    shared = [pair for pair in of_a if pair in of_b]
    both = list(zip(_judgements(of_a, shared), _judgements(of_b, shared), strict=True))
    n = len(both)
    observed = sum(a[0] == b[0] for a, b in both) / n
    counts = Counter(a[0] for a, _ in both), Counter(b[0] for _, b in both)
    chance = sum(counts[0][verdict] * counts[1][verdict] for verdict in counts[0]) / n**2
    kappa = None if chance == 1 else (observed - chance) / (1 - chance)
    return Agreement(reviewers=names, words=n, same=sum(a == b for a, b in both), kappa=kappa)


def _judgements(decisions: _ByPair, pairs: Iterable[tuple[str, str]]) -> list[tuple[Verdict, frozenset[str]]]:
    """The verdict on each source word of the pairs, and its right translations, in the order of the pairs."""
    words: dict[str, list[Decision]] = {}
    for pair in pairs:
        words.setdefault(pair[0], []).append(decisions[pair])
    return [
        (min((d.verdict for d in made), key=_VERDICTS.index), frozenset(t for d in made for t in d.targets))
        for made in words.values()
    ]


def _by_pair(decisions: Iterable[Decision]) -> dict[tuple[str, str], list[Decision]]:
    """The judgements on each pair; marks and notes alone are none."""
    found: dict[tuple[str, str], list[Decision]] = {}
    for decision in decisions:
        if decision.verdict != "open":
            found.setdefault(decision.pair, []).append(decision)
    return found


def _without_name(decision: Decision) -> Decision:
    return decision._replace(merged=False, reviewer="")


def _by_same_person(ours: Decision, theirs: Decision, name: str) -> bool:
    """Whether a decision, alike in all but the name, is the same. An earlier merge may have given the name."""
    unnamed_here = not ours.reviewer and theirs.merged
    unnamed_there = not theirs.reviewer and ours.merged
    return ours.reviewer == (theirs.reviewer or name) or unnamed_here or unnamed_there
