"""A suite: systems, the directions that they are measured on, and the resulting cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from bilex.errors import SettingsError, SuiteError
from bilex.methods.base import Method, get_method
from bilex.text.suggest import suggestion
from bilex.text.words import word_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from bilex.bench.inputs import Input

Protocol = Literal["honest", "paper"]


@dataclass(frozen=True, kw_only=True)
class Direction:
    """Two tables, a train dictionary and a test dictionary."""

    name: str
    source: Input
    target: Input
    train: Input | None
    test: Input

    def inputs(self) -> list[Input]:
        """The input files."""
        return [part for part in (self.source, self.target, self.train, self.test) if part is not None]


@dataclass(frozen=True, kw_only=True)
class System:
    """A method with its settings, directions, random seeds and protocol."""

    label: str
    method: str
    settings: dict[str, str] = field(default_factory=dict)
    directions: tuple[str, ...]
    rng_seeds: tuple[int, ...] = (0,)
    pairs: int | None = None
    protocol: Protocol = "honest"

    def make(self) -> Method:
        """The method. The paper's protocol makes choices on the test dictionary, so the method must not train on it."""
        method = get_method(self.method, self.settings)
        if self.protocol == "honest":
            return method
        method = method.without_refit()
        if not method.uses_dev:
            found = "makes no choices on a dictionary"
        elif method.learns_dev:
            found = "always trains on the dictionary of its choices in the end"
        else:
            return method
        raise SettingsError(
            f"{self.label}: the paper's protocol makes choices on the test dictionary and never trains on it, but "
            f"{method.name} {found}; use another method, such as rapo, or protocol honest"
        )

    def describe(self) -> dict[str, Any]:
        """The system in plain values."""
        names = ("label", "method", "settings", "pairs", "protocol")
        return {name: getattr(self, name) for name in names} | {
            "directions": list(self.directions),
            "rng_seeds": list(self.rng_seeds),
        }


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A cell to run: one system on one direction with one random seed."""

    suite: str
    system: System
    direction: Direction
    rng_seed: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{slug(self.system.label)}.{self.direction.name}.{self.rng_seed}"


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The systems and directions to measure. Labels of systems and names of directions are unique."""

    name: str
    title: str
    notes: str = ""
    systems: tuple[System, ...]
    directions: dict[str, Direction]

    @classmethod
    def read(cls, name: str | PathLike[str]) -> Suite:
        """A suite that comes with bilex, by its name; or your own, by the path of its TOML file."""
        from bilex.bench.suite_file import read_suite

        return read_suite(name)

    def cells(
        self,
        *,
        systems: str | Iterable[str] | None = None,
        directions: str | Iterable[str] | None = None,
        rng_seeds: Sequence[int] | None = None,
    ) -> list[Planned]:
        """All cells, or those of some systems (by label, with the wildcards * and ?) and directions.

        `rng_seeds` replace those of the suite.
        """
        chosen = self._systems(word_list(systems or (), "systems"))
        directions = word_list(directions or (), "directions")
        for name in directions:
            if name not in self.directions:
                near = suggestion(name, self.directions)
                known = ", ".join(self.directions)
                raise SuiteError(f"suite {self.name} has no direction {name!r}{near}; it has: {known}")
        found = [
            (rng_seed, place, order, Planned(suite=self.name, system=system, direction=direction, rng_seed=rng_seed))
            for order, system in enumerate(chosen)
            for place, direction in enumerate(self.directions.values())
            if direction.name in system.directions and (not directions or direction.name in directions)
            for rng_seed in rng_seeds or system.rng_seeds
        ]
        if not found:
            raise SuiteError(f"suite {self.name}: none of these systems is measured on any of these directions")
        return [cell for *_, cell in sorted(found, key=lambda item: item[:3])]

    def describe(self) -> dict[str, Any]:
        """The suite in plain values, with everything that a report needs."""
        return {
            "name": self.name,
            "title": self.title,
            "notes": self.notes,
            "protocol": sorted({system.protocol for system in self.systems}),
            "directions": list(self.directions),
            "systems": [system.describe() for system in self.systems],
            "inputs": {
                name: {part: None if given is None else given.label for part, given in _parts(direction).items()}
                for name, direction in self.directions.items()
            },
        }

    def _systems(self, patterns: Sequence[str]) -> list[System]:
        for pattern in patterns:
            if not any(_matches(system, pattern) for system in self.systems):
                labels = [system.label for system in self.systems]
                near = suggestion(pattern, labels)
                raise SuiteError(f"suite {self.name} has no system {pattern!r}{near}; it has: {'; '.join(labels)}")
        return [s for s in self.systems if not patterns or any(_matches(s, pattern) for pattern in patterns)]


def slug(label: str) -> str:
    """A label in a form that can be part of a file name."""
    return re.sub(r"[^\w.=+-]+", "-", label).strip("-.") or "-"


def _matches(system: System, pattern: str) -> bool:
    return system.label == pattern or fnmatchcase(system.label, pattern)


def _parts(direction: Direction) -> dict[str, Input | None]:
    return {part: getattr(direction, part) for part in ("source", "target", "train", "test")}
