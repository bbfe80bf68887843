"""Small feed-forward networks; all randomness is passed in as a generator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import torch
from torch.nn import functional

from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Generator, Tensor

    from bilex.storage.array_form import Forms

SLOPE = 0.25


@dataclass(frozen=True, eq=False, kw_only=True)
class Network:
    """h ← σ(drop(h Wᵢ + bᵢ)), fully connected; the last layer without σ and drop.  Wᵢ: (dᵢ, dᵢ₊₁), bᵢ: (dᵢ₊₁,).

    σ is PReLU with a trained slope: σ(v) = v, or slope · v if v < 0. Without a slope, σ is tanh.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    slope: Tensor | None = None

    @classmethod
    def random(cls, sizes: Sequence[int], like: Tensor, generator: Generator, *, slope: float = SLOPE) -> Self:
        """A PReLU network with weights and biases uniform in ±1/√dᵢ."""

        def drawn(n: int, *shape: int) -> Tensor:
            uniform = 2 * torch.rand(*shape, generator=generator) - 1
            return (uniform / math.sqrt(n)).to(like)

        layers = [(drawn(n, n, m), drawn(n, m)) for n, m in pairwise(sizes)]
        weights, biases = zip(*layers, strict=True)
        return cls(weights=weights, biases=biases, slope=like.new_full((1,), slope))._trainable()

    @classmethod
    def identity(cls, sizes: Sequence[int], like: Tensor) -> Self:
        """A tanh network with weights I and biases 0, as close to the identity as tanh and the sizes allow."""
        weights = tuple(torch.eye(n, m).to(like) for n, m in pairwise(sizes))
        return cls(weights=weights, biases=tuple(like.new_zeros(m) for m in sizes[1:]))._trainable()

    def __call__(self, rows: Tensor, drop: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """Map rows (n, d₀) to (n, dₗ); drop: dropout of the hidden layers, or None."""
        for i, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            rows = torch.addmm(b.to(rows), rows, w.to(rows))
            if i + 1 < len(self.weights):
                rows = rows if drop is None else drop(rows)
                rows = rows.tanh() if self.slope is None else functional.prelu(rows, self.slope.to(rows))
        return rows

    def parameters(self) -> list[Tensor]:
        """All trainable tensors."""
        return [*self.weights, *self.biases, *([] if self.slope is None else [self.slope])]

    def frozen(self) -> Self:
        """A copy that is not trained."""
        return self.from_arrays({name: array.detach().clone() for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Tensor]:
        """`weight.0`, `bias.0`, ... and `slope`."""
        arrays = {f"weight.{i}": w for i, w in enumerate(self.weights)}
        arrays |= {f"bias.{i}": b for i, b in enumerate(self.biases)}
        return arrays if self.slope is None else {**arrays, "slope": self.slope}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`."""
        layers = sum(name.startswith("weight.") for name in arrays)
        weights, biases = (tuple(arrays[f"{kind}.{i}"] for i in range(layers)) for kind in ("weight", "bias"))
        return cls(weights=weights, biases=biases, slope=arrays.get("slope"))

    @staticmethod
    def forms(arrays: dict[str, Tensor], name: str, first: str) -> Forms:
        """Forms of all layers.  name: of the network; first: the letter for the size of its input."""
        layers = max(1, sum(array.startswith("weight.") for array in arrays))
        sizes = [first, *(f"{name} {i}" for i in range(1, layers + 1))]
        forms = {"slope": ArrayForm((1,), optional=True)}
        for i, (n, m) in enumerate(pairwise(sizes)):
            forms |= {f"weight.{i}": ArrayForm((n, m)), f"bias.{i}": ArrayForm((m,))}
        return forms

    def _trainable(self) -> Self:
        for parameter in self.parameters():
            parameter.requires_grad_()
        return self


def dropout(share: float, generator: Generator) -> Callable[[Tensor], Tensor]:
    """Dropout: set this share of all numbers to 0 at random, and divide the others by 1 − share."""

    def drop(rows: Tensor) -> Tensor:
        kept = torch.rand(rows.shape, generator=generator) >= share
        return rows * (kept.to(rows) / (1 - share))

    return drop
