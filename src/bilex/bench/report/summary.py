"""The main results in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.bench.report.comparison import LEVELS, best_system, leaders
from bilex.bench.report.metrics import MAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bilex.bench.report.comparison import Comparison
    from bilex.bench.report.grid import Grid, System

LEVEL, MARK = LEVELS[0]
MAX_NAMED = 4
"""More leads than this are given as a range, and at most this number of systems have a sentence on their margins."""


def sentences(grid: Grid, margins: Sequence[Comparison]) -> list[str]:
    """Sentences on the number of results, the best systems, the margins, and the failures."""
    found = [_extent(grid), *_best_mean(grid), *_best_where(grid)]
    return [*found, *_margins(margins), *_lost(grid), *_chosen_on_test(grid)]


def _extent(grid: Grid) -> str:
    cells = grid.cells
    seeds = {len(spot.cells) for system in grid.systems for spot in system.spots.values()}
    each = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
    done = sum(cell.done for cell in cells)
    return (
        f"{_count(len(grid.systems), 'system')} on {_count(len(grid.directions), 'direction')}, {each} random "
        f"{'seed' if seeds == {1} else 'seeds'} each: {done} of {_count(len(cells), 'run')} done."
    )


def _best_mean(grid: Grid) -> list[str]:
    means = {s.label: mean for s in grid.systems if s.honest and (mean := s.mean(MAIN, grid.directions)) is not None}
    if not means or len(grid.directions) < 2:
        return []
    first, *others = sorted(means, key=lambda label: -means[label])
    text = f"Over the {len(grid.directions)} directions {first} has the highest mean P@1, {MAIN.show(means[first])}"
    if others:
        text += f", {MAIN.show(means[first] - means[others[0]])} points above {others[0]}"
    return [f"{text} ({_count(len(means), 'system')} complete)."]


def _best_where(grid: Grid) -> list[str]:
    """The best system of each direction, and whether its lead is significant."""
    tested = {comparison.direction: comparison for comparison in leaders(grid)}
    where: dict[str, list[str]] = {}
    for direction in grid.directions:
        system = best_system(grid.systems, direction, complete=True)
        if system is not None:
            where.setdefault(system.label, []).append(direction)
    return [_leads(label, [tested[d] for d in found if d in tested], found) for label, found in where.items()]


def _leads(label: str, tested: list[Comparison], directions: list[str]) -> str:
    text = f"{label} is best on {_and(directions)}"
    if not tested:
        return f"{text}."
    significant = [comparison.direction for comparison in tested if comparison.mark == MARK]
    return f"{text}: {_by(tested)}. {_significant(significant, len(tested))}"


def _by(tested: list[Comparison]) -> str:
    """Each lead if they are few, else the smallest and the largest."""
    several = len(tested) > MAX_NAMED
    shown = [pick(tested, key=lambda c: c.difference) for pick in (min, max)] if several else tested
    leads = [f"{MAIN.show(c.difference)} above {c.second} ({c.direction})" for c in shown]
    return f"from {' to '.join(leads)}" if several else _and(leads)


def _margins(margins: Sequence[Comparison]) -> list[str]:
    """A sentence for each of the first systems, those with the most directions first."""
    found: dict[str, list[Comparison]] = {}
    for comparison in margins:
        found.setdefault(comparison.first, []).append(comparison)
    ordered = sorted(found.values(), key=lambda comparisons: -len(comparisons))
    more = len(ordered) - MAX_NAMED
    rest = [f"The table of margins has {_count(more, 'system')} more."] if more > 0 else []
    return [_margin(comparisons) for comparisons in ordered[:MAX_NAMED]] + rest


def _margin(comparisons: list[Comparison]) -> str:
    """One system against its best peer in each direction."""
    label, better = comparisons[0].first, [c for c in comparisons if c.difference > 0]
    significant = [c.direction for c in comparisons if c.mark == MARK]
    worse = [c.direction for c in comparisons if c.worse]
    where = f"on {len(better)} of {_count(len(comparisons), 'direction')}" if better else "on no direction"
    parts = [f"{label} is above its best peer {where} ({_range(comparisons)})."]
    parts += [_significant(significant, len(better))] if better else []
    parts += [f"It is significantly worse on {_and(worse)}."] if worse else []
    return " ".join(parts)


def _range(comparisons: list[Comparison]) -> str:
    low, high = (pick(comparisons, key=lambda c: c.difference) for pick in (min, max))
    shown = [f"{c.difference:+.2f} points on {c.direction}, against {c.second}" for c in (low, high)]
    return shown[0] if low is high else f"from {shown[0]}, to {shown[1]}"


def _significant(directions: list[str], tested: int) -> str:
    test = f"sign test, p < {LEVEL} after Holm's correction"
    if not directions:
        return f"{'The lead is not' if tested == 1 else 'No lead is'} significant ({test})."
    every = " on all of them" if len(directions) == tested > 1 else f" on {_and(directions)}"
    return f"The lead is significant{every} ({test})."


def _lost(grid: Grid) -> list[str]:
    found = []
    for status, verb in (("failed", "Failed"), ("error", "Ended by an error")):
        parts = [part for system in grid.systems if (part := _lost_of(system, status))]
        found += [f"{verb}: {'; '.join(parts)}."] if parts else []
    return found or ["Nothing failed."]


def _lost_of(system: System, status: str) -> str:
    counts = {d: sum(cell.status == status for cell in spot.cells) for d, spot in system.spots.items()}
    where = [f"{d} ({count} of {len(system.at(d).cells)})" for d, count in counts.items() if count]
    return f"{system.label} on {_and(where)}" if where else ""


def _chosen_on_test(grid: Grid) -> list[str]:
    labels = [system.label for system in grid.systems if not system.honest]
    text = (
        "made choices on the test dictionary, as the program of the paper does. The figures are too high for a "
        "comparison, and are left out above."
    )
    return [f"{_and(labels)} {text}"] if labels else []


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _and(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
