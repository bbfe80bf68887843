"""Normalization as ordered steps: fitted to a whole table, then applied to any row of that space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.errors import SettingsError
from bilex.storage.array_form import ArrayForm, check_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


MIN_LENGTH = 1e-12
"""Rows that are shorter, or whose length overflows, are rescaled before their length is computed."""
MAX_MEDIAN, MAX_LENGTH = 1e9, 1e6
"""Largest median length of a table (or its inverse), and of a row in medians, with which products do not overflow."""


def unit(rows: Tensor) -> Tensor:
    """Rows x / ‖x‖, also where ‖x‖ would overflow or underflow; a zero row stays zero."""
    lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    usual = (lengths > MIN_LENGTH) & lengths.isfinite()
    if not rows.is_meta and not usual.all():
        rows = rows / _powers(rows.detach()).masked_fill(usual, 1)
        lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    directions: Tensor = rows / lengths.clamp_min(MIN_LENGTH)
    return directions


def _powers(rows: Tensor) -> Tensor:
    """The largest power of two <= max |x| of each row: (n, 1). Division by it is exact."""
    largest = torch.linalg.vector_norm(rows, ord=torch.inf, dim=1, keepdim=True)
    powers: Tensor = largest / (2 * torch.frexp(largest).mantissa)
    return powers.masked_fill(largest == 0, 1)


class Step(NamedTuple):
    """fit: state of the step for a table; apply: normalize rows with this state."""

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
    """Normalization steps in order, and the fitted state of each.

    median: median length of the rows, for tables whose lengths would overflow. Before the steps, rows are divided by
    it, and rows more than a million times as long are set to length 1. It is None for all other tables, and if the
    first step is unit.
    """

    steps: tuple[str, ...]
    states: tuple[Tensor, ...] = field(repr=False)
    median: Tensor | None = field(default=None, repr=False)

    @classmethod
    def fit(cls, rows: Tensor, steps: Sequence[str]) -> tuple[Normalizer, Tensor]:
        """The normalizer of a table, and the normalized table. Each step is fitted to the result of the step before."""
        check_steps(steps)
        states = []
        median = None if rows.is_meta or tuple(steps[:1]) == ("unit",) else _median_out_of_range(rows)
        rows = rows if median is None else _in_range(rows, median)
        for step in steps:
            states.append(STEPS[step].fit(rows))
            rows = STEPS[step].apply(rows, states[-1])
        return cls(tuple(steps), tuple(states), median), rows

    def __call__(self, rows: Tensor) -> Tensor:
        """Normalize rows in the same way as the table."""
        rows = rows if self.median is None else _in_range(rows, self.median)
        for step, state in zip(self.steps, self.states, strict=True):
            rows = STEPS[step].apply(rows, state.to(rows))
        return rows

    def arrays(self, prefix: str) -> dict[str, Tensor]:
        """The fitted states by name."""
        states = {f"{prefix}.{i}": state for i, state in enumerate(self.states)}
        return states if self.median is None else states | {f"{prefix}.median": self.median}

    @classmethod
    def from_arrays(
        cls, steps: Sequence[str], arrays: dict[str, Tensor], prefix: str, sizes: dict[str, int] | None = None
    ) -> Normalizer:
        """The inverse of `arrays`.  sizes: {"d": ...}, if known. ValueError if the arrays do not fit the steps."""
        check_steps(steps)
        names = [f"{prefix}.{i}" for i in range(len(steps))]
        forms = {name: ArrayForm((0,) if step == "unit" else ("d",)) for name, step in zip(names, steps, strict=True)}
        own = {name: array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
        check_arrays(own, {**forms, f"{prefix}.median": ArrayForm((1,), optional=True)}, sizes)
        states, median = tuple(own[name] for name in names), own.get(f"{prefix}.median")
        divisors = [state for step, state in zip(steps, states, strict=True) if step == "scale"]
        if any(not (divisor > 0).all() for divisor in [*divisors, *([] if median is None else [median])]):
            raise ValueError(f"{prefix} divides by numbers that are not above 0")
        return cls(tuple(steps), states, median)


def _median_out_of_range(rows: Tensor) -> Tensor | None:
    """The median length (1,) of the rows that are not zero, if it or the longest row is out of range; else None."""
    lengths = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64)
    lengths = lengths[(lengths > 0) & lengths.isfinite()]
    if not len(lengths):
        return None
    median = lengths.median()
    in_range = 1 / MAX_MEDIAN <= median <= MAX_MEDIAN and lengths.max() <= MAX_LENGTH * median
    return None if in_range else median[None]


def _in_range(rows: Tensor, median: Tensor) -> Tensor:
    """The rows divided by the median; much longer ones are set to length 1."""
    divided = rows.double() / median.to(rows.device, torch.float64)
    far = torch.linalg.vector_norm(divided, dim=1, keepdim=True) > MAX_LENGTH
    return torch.where(far, unit(rows), divided.to(rows))


def check_steps(steps: Sequence[str]) -> None:
    """Refuse a step that does not exist."""
    if isinstance(steps, str):
        raise SettingsError(f"normalize={steps!r}: found a string; needed a tuple of steps, such as ('unit', 'center')")
    for step in steps:
        if step not in STEPS:
            raise SettingsError(f"normalize: there is no step {step!r}; choose from {', '.join(STEPS)}")
