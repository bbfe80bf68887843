"""Relaxed CSLS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch

from bilex.linalg.procrustes import procrustes
from bilex.mapping import LinearMapping
from bilex.methods.base import Method
from bilex.retrieval.csls import local_mean
from bilex.search.topk import topk
from bilex.settings.fields import Choice, Range, SearchSpace

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class RCSLS(Method):
    """Gradient descent on the CSLS criterion itself: RCSLS.

    Minimizes −mean[2 zᵢ·xᵢW − mean of the k largest z·xᵢW over all z − mean of the k largest zᵢ·xW over all x] over the
    train pairs, in full batches from the Procrustes map, neighbours found anew at each step; the step size is halved
    whenever the loss has risen. W is unconstrained, or with `spectral` kept to singular values of at most 1. A step
    that has raised the loss is taken back with `spectral` only: without it the authors' program means to do so too,
    but changes the matrix that it goes back to, and its figures are those of steps that are kept.
    """

    name = "rcsls"
    paper = "Joulin, Bojanowski, Mikolov, Jégou and Grave (2018). Loss in translation. EMNLP"

    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Range(1.0, 100.0, log=True),
        "iterations": Range(5, 50, step=5),
        "spectral": Choice((False, True)),
        "normalize": Choice((("unit",), ("unit", "center", "unit"))),
    }

    normalize: tuple[str, ...] = ("unit",)
    iterations: int = 10
    """Steps of gradient descent, at most."""
    learning_rate: float = 25.0
    """Length of the first step, times the gradient; halved whenever the loss has risen."""
    k: int = 10
    """Neighbours of CSLS in the loss."""
    spectral: bool = False
    """Whether W is kept to singular values of at most 1, and a step that has raised the loss is taken back."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(0, "iterations")
        self._needs_at_least(1, "k")
        self._needs_above_zero("learning_rate")

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, *, trace: Trace, **_: Any) -> LinearMapping:
        """The last iterate, as in the authors' program."""
        x_d, z_d = x[pairs[:, 0]], z[pairs[:, 1]]
        w, rate = procrustes(x_d, z_d), self.learning_rate
        before, progress = (float("inf"), w, w), trace.progress("RCSLS")
        for iteration in range(1, self.iterations + 1):
            loss, gradient = self.loss(w, x, z, x_d, z_d, pairs)
            risen = loss > before[0]
            if risen:
                rate /= 2
            if not (risen and self.spectral):
                before = loss, gradient, w
            gradient, w = before[1:]
            if rate < 1e-4:
                break
            trace(iteration=iteration, loss=loss, learning_rate=rate)
            progress(iteration, self.iterations)
            w = w - rate * gradient
            if self.spectral:
                u, s, vt = torch.linalg.svd(w)
                w = (u * s.clamp_max(1)) @ vt
        return LinearMapping(source_matrix=w)

    def loss(
        self, w: Tensor, x: Tensor, z: Tensor, x_d: Tensor, z_d: Tensor, pairs: Tensor | None = None
    ) -> tuple[float, Tensor]:
        """The criterion and its gradient with the neighbours held fixed.  W: (d, d), X_D, Z_D: (p, d).

        `pairs` (p, 2) tells which rows of X_D and of Z_D are of one word: its neighbours are searched once.
        """
        sources, targets = (_once(len(x_d), pairs if pairs is None else pairs[:, i]) for i in (0, 1))
        near_z, mean_z = self._nearest((x_d @ w)[sources.first], z, z, sources.place)
        near_x, mean_x = self._nearest(z_d[targets.first], x @ w, x, targets.place)
        loss = -(2 * (x_d @ w * z_d).sum(1) - near_z - near_x).mean()
        gradient = -(x_d.T @ (2 * z_d - mean_z) - mean_x.T @ z_d) / len(x_d)
        return float(loss), gradient

    def _nearest(self, queries: Tensor, keys: Tensor, rows: Tensor, place: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Means of the k largest products of each query, and of the rows of these keys; put in their places."""
        near = topk(queries, keys, self.k)
        return local_mean(near.values, self.k)[place], _mean_rows(rows, near.indices)[place]


class _Once(NamedTuple):
    """One row of each word, and the place of each row's word among these."""

    first: Tensor | slice
    place: Tensor | slice


def _once(rows: int, words: Tensor | None) -> _Once:
    """Of so many rows, given the word of each; where that is not known, each is a word of its own."""
    if words is None:
        return _Once(slice(None), slice(None))
    different, place = torch.unique(words, return_inverse=True)
    first = place.new_empty(len(different)).scatter_(0, place, torch.arange(rows, device=place.device))
    return _Once(first, place)


def _mean_rows(table: Tensor, indices: Tensor) -> Tensor:
    """Means of the rows named by each row of indices, without gathering them all at once."""
    return torch.nn.functional.embedding_bag(indices, table, mode="mean")
