"""Normalization of vectors in ordered steps. The steps are fitted to a whole table, then applied to any row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from bilex.errors import SettingsError
from bilex.storage.array_form import ArrayForm, check_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


MIN_LENGTH = 1e-12
"""Rows that are shorter, or whose length overflows, are scaled before their length is computed."""
MAX_MEDIAN, MAX_RELATIVE_LENGTH = 1e9, 1e6
"""Products stay in the range of float32 up to this median length (or its inverse), and up to this length of a row in
medians."""


def unit(rows: Tensor) -> Tensor:
    """Rows scaled to length 1, also very long and very short ones. A zero row stays zero."""
    directions: Tensor = _Unit.apply(rows) if rows.requires_grad else _unit(rows)[0]  # type: ignore[no-untyped-call]
    return directions


class _Unit(torch.autograd.Function):
    """`unit`, with its gradient in one formula: (g − u (u · g)) / length, for a row in the direction u."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        directions, lengths = _unit(rows)
        ctx.save_for_backward(directions, lengths)
        return directions

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        directions, lengths = ctx.saved_tensors
        along = (gradient * directions).sum(1, keepdim=True)
        return torch.addcmul(gradient, directions, along, value=-1).div_(lengths)


def _unit(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (n, d) scaled to length 1, and their lengths (n, 1), at least `MIN_LENGTH`."""
    lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    usual = (lengths > MIN_LENGTH) & lengths.isfinite()
    if rows.is_meta or usual.all():
        return rows / lengths, lengths
    powers = _largest_powers_of_two(rows).masked_fill(usual, 1)
    scaled = rows / powers
    lengths = torch.linalg.vector_norm(scaled, dim=1, keepdim=True).clamp_min(MIN_LENGTH)
    return scaled / lengths, (lengths * powers)


def _largest_powers_of_two(rows: Tensor) -> Tensor:
    """Largest power of two up to the largest absolute value of each row, (n, 1). Division by it is exact."""
    largest = torch.linalg.vector_norm(rows, ord=torch.inf, dim=1, keepdim=True)
    powers: Tensor = largest / (2 * torch.frexp(largest).mantissa)
    return powers.masked_fill(largest == 0, 1)


class Step(NamedTuple):
    """One step: `fit(table)` returns its state, `apply(rows, state)` the normalized rows."""

    fit: Callable[[Tensor], Tensor]
    apply: Callable[[Tensor, Tensor], Tensor]


STEPS: dict[str, Step] = {
    "unit": Step(lambda rows: rows.new_empty(0), lambda rows, _: unit(rows)),
    "center": Step(lambda rows: rows.mean(0), lambda rows, mean: rows - mean),
    "scale": Step(lambda rows: rows.norm(dim=0).clamp_min(1e-12), lambda rows, norm: rows / norm),
}
"""unit: rows of length 1. center: subtract the mean of the table. scale: columns of the table of length 1."""


@dataclass(frozen=True, eq=False)
class Normalizer:
    """Steps by name, in order, and the fitted state of each.

    `median` is only set for a table with lengths outside the range of float32 products, and never if the first step is
    unit. It is the median length of the rows. Rows are divided by it before the steps. Rows of more than a million
    times this length are scaled to it.
    """

    steps: tuple[str, ...]
    states: tuple[Tensor, ...] = field(repr=False)
    median: Tensor | None = field(default=None, repr=False)

    @classmethod
    def fit(cls, rows: Tensor, steps: Sequence[str]) -> tuple[Normalizer, Tensor]:
        """The normalizer fitted to a table, and the normalized table. Each step is fitted to the output of the last."""
        check_steps(steps)
        states = []
        median = None if rows.is_meta or tuple(steps[:1]) == ("unit",) else _median_out_of_range(rows)
        rows = rows if median is None else _in_range(rows, median)
        for step in steps:
            states.append(STEPS[step].fit(rows))
            rows = STEPS[step].apply(rows, states[-1])
        return cls(tuple(steps), tuple(states), median), rows

    def __call__(self, rows: Tensor) -> Tensor:
        """The rows, normalized like the table."""
        rows = rows if self.median is None else _in_range(rows, self.median)
        for step, state in zip(self.steps, self.states, strict=True):
            rows = STEPS[step].apply(rows, state.to(rows))
        return rows

    def arrays(self, prefix: str) -> dict[str, Tensor]:
        """The fitted states by name."""
        fitted = {f"{prefix}.{i}": state for i, state in enumerate(self.states)}
        return fitted if self.median is None else fitted | {f"{prefix}.median": self.median}

    @classmethod
    def from_arrays(
        cls, steps: Sequence[str], arrays: dict[str, Tensor], prefix: str, sizes: dict[str, int] | None = None
    ) -> Normalizer:
        """The inverse of `arrays`. sizes: {"d": ...} if known. ValueError if the arrays do not fit the steps."""
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
    """The median length, (1,), if it or the longest row is out of range. Zero rows are not counted."""
    lengths = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64)
    lengths = lengths[(lengths > 0) & lengths.isfinite()]
    if not len(lengths):
        return None
    median = lengths.median()
    in_range = 1 / MAX_MEDIAN <= median <= MAX_MEDIAN and lengths.max() <= MAX_RELATIVE_LENGTH * median
    return None if in_range else median[None]


def _in_range(rows: Tensor, median: Tensor) -> Tensor:
    """The rows divided by the median. Rows that are far too long are scaled to length 1."""
    divided = rows.double() / median.to(rows.device, torch.float64)
    too_long = torch.linalg.vector_norm(divided, dim=1, keepdim=True) > MAX_RELATIVE_LENGTH
    return torch.where(too_long, unit(rows), divided.to(rows))


def check_steps(steps: Sequence[str]) -> None:
    """Refuse a step that does not exist."""
    if isinstance(steps, str):
        raise SettingsError(f"normalize={steps!r}: found a string; needed a tuple of steps, such as ('unit', 'center')")
    for step in steps:
        if step not in STEPS:
            raise SettingsError(f"normalize: there is no step {step!r}; choose from {', '.join(STEPS)}")
