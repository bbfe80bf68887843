"""Relaxed CSLS (RCSLS)."""

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
    train pairs, in full batches from the Procrustes map. Neighbours are searched again at each step, and the step size
    is halved whenever the loss rises. W is unconstrained; with `spectral` its singular values are at most 1.

    A step that raises the loss is undone with `spectral` only. Without it, the authors' program tries to undo it too,
    but overwrites the matrix that it would return to, so its figures are those without undoing.
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
    """Largest number of gradient descent steps."""
    learning_rate: float = 25.0
    """Length of the first step, times the gradient; halved whenever the loss rises."""
    k: int = 10
    """Neighbours of CSLS in the loss."""
    spectral: bool = False
    """Whether singular values of W are clipped at 1, and a step that raises the loss is undone."""

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
        """The criterion and its gradient, with constant neighbours.  W: (d, d), X_D, Z_D: (p, d).

        pairs: (p, 2), the word of each row of X_D and Z_D; the neighbours of a word are then searched once.
        """
        sources, targets = (_unique_words(len(x_d), pairs if pairs is None else pairs[:, i]) for i in (0, 1))
        near_z, mean_z = self._nearest((x_d @ w)[sources.first], z, z, sources.place)
        near_x, mean_x = self._nearest(z_d[targets.first] @ w.T, x, x, targets.place)  # z · xW = z Wᵀ · x
        loss = -(2 * (x_d @ w * z_d).sum(1) - near_z - near_x).mean()
        gradient = -(x_d.T @ (2 * z_d - mean_z) - mean_x.T @ z_d) / len(x_d)
        return float(loss), gradient

    def _nearest(self, queries: Tensor, keys: Tensor, rows: Tensor, place: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Mean of the k largest products of each query, and mean of the rows of these keys, for each place."""
        near = topk(queries, keys, self.k)
        return local_mean(near.values, self.k)[place], _mean_rows(rows, near.indices)[place]


class _UniqueWords(NamedTuple):
    """The first row of each word, and for every row the place of its word among these."""

    first: Tensor | slice
    place: Tensor | slice


def _unique_words(rows: int, words: Tensor | None) -> _UniqueWords:
    """Find the first row of each word, given the words of all rows; None: every row is another word."""
    if words is None:
        return _UniqueWords(slice(None), slice(None))
    unique, place = torch.unique(words, return_inverse=True)
    first = place.new_empty(len(unique)).scatter_(0, place, torch.arange(rows, device=place.device))
    return _UniqueWords(first, place)


def _mean_rows(table: Tensor, indices: Tensor) -> Tensor:
    """Mean of the table rows in each row of indices, without gathering them: (q, d)."""
    return torch.nn.functional.embedding_bag(indices, table, mode="mean")
