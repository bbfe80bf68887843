"""Normalisation as ordered steps: fitted on a whole table, then applied to any row of that space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def unit(rows: Tensor) -> Tensor:
    """Rows of length 1; a zero row stays zero."""
    return torch.nn.functional.normalize(rows, dim=1)


class Step(NamedTuple):
    """What a step learns from a table, and what it does with a row and that."""

    fit: Callable[[Tensor], Tensor]
    apply: Callable[[Tensor, Tensor], Tensor]


STEPS: dict[str, Step] = {
    "unit": Step(lambda rows: rows.new_empty(0), lambda rows, _: unit(rows)),
    "center": Step(lambda rows: rows.mean(0), lambda rows, mean: rows - mean),
    "scale": Step(lambda rows: rows.norm(dim=0).clamp_min(1e-12), lambda rows, norm: rows / norm),
}
"""unit: rows of length 1; center: mean of the table to 0; scale: columns of length 1 over the table."""


@dataclass(frozen=True, eq=False)
class Normalizer:
    """Steps by name, in order, and what each has learnt."""

    steps: tuple[str, ...]
    states: tuple[Tensor, ...]

    @classmethod
    def fit(cls, rows: Tensor, steps: Sequence[str]) -> tuple[Normalizer, Tensor]:
        """The normalizer fitted to a table, and the normalized table; each step is fitted to what the last one left."""
        check_steps(steps)
        states = []
        for step in steps:
            states.append(STEPS[step].fit(rows))
            rows = STEPS[step].apply(rows, states[-1])
        return cls(tuple(steps), tuple(states)), rows

    def __call__(self, rows: Tensor) -> Tensor:
        """The rows as the table they belong to was normalized."""
        for step, state in zip(self.steps, self.states, strict=True):
            rows = STEPS[step].apply(rows, state.to(rows))
        return rows

    def arrays(self, prefix: str) -> dict[str, Tensor]:
        """The learnt states by name."""
        return {f"{prefix}.{i}": state for i, state in enumerate(self.states)}

    @classmethod
    def from_arrays(cls, steps: Sequence[str], arrays: dict[str, Tensor], prefix: str) -> Normalizer:
        """The inverse of `arrays`."""
        return cls(tuple(steps), tuple(arrays[f"{prefix}.{i}"] for i in range(len(steps))))


def check_steps(steps: Sequence[str]) -> None:
    """Refuse a step that does not exist."""
    for step in steps:
        if step not in STEPS:
            raise SettingsError(f"normalize: there is no step {step!r}; choose from {', '.join(STEPS)}")
