"""Source and target, forward and backward: what belongs to the two languages, in the order of a translation."""

from __future__ import annotations

from typing import Generic, Literal, NamedTuple, TypeVar, get_args

from bilex.errors import SettingsError

Side = Literal["source", "target"]
Direction = Literal["forward", "backward"]
SIDES: tuple[Side, Side] = get_args(Side)

T = TypeVar("T")


class Sides(NamedTuple, Generic[T]):
    """What belongs to the source language, and the same of the target language, such as two tables."""

    source: T
    target: T

    def of(self, side: Side) -> T:
        """That of one side."""
        return self.source if side == "source" else self.target

    def along(self, direction: Direction) -> Sides[T]:
        """From and to: as they are, or swapped if the translation goes backward."""
        return self if direction == "forward" else Sides(self.target, self.source)

    def first(self, side: Side) -> Sides[T]:
        """That of one side, then that of the other."""
        return self.along("forward" if side == "source" else "backward")


NAMES: Sides[Side] = Sides(*SIDES)


def from_to(direction: Direction) -> Sides[Side]:
    """The side that is translated from, and the side that is translated to."""
    return NAMES.along(direction)


def other(side: Side) -> Side:
    """The other side."""
    return NAMES.first(side)[1]


def reverse(direction: Direction) -> Direction:
    """The other direction."""
    return "backward" if direction == "forward" else "forward"


def both_sides(sides: Side | tuple[Side, Side]) -> tuple[Side, Side]:
    """The sides of a first and a second word; one side is that of both."""
    first, second = (sides, sides) if isinstance(sides, str) else sides if len(sides) == 2 else (None, None)
    if first not in SIDES or second not in SIDES:
        raise SettingsError(f"sides={sides!r}: needed 'source', 'target', or two of these such as {SIDES}")
    return first, second
