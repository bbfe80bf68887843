"""GeoMM: a rotation of each language and a metric between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch

from bilex.errors import SettingsError
from bilex.evaluation.criterion import reciprocal_ranks
from bilex.evaluation.held_out import held_out_record
from bilex.linalg.bilinear import bilinear
from bilex.mapping import LinearMapping
from bilex.methods.base import Method
from bilex.normalize import unit
from bilex.settings.fields import Choice, SearchSpace

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class GeoMM(Method):
    """A rotation of each language and a metric they share, in closed form: GeoMM.

    Over the n different source words X (n, d) and the m different target words Z (m, d) of the train pairs, with
    A (n, m) that is 1 where two words are a pair and else 0, minimizes ‖X U B Vᵀ Zᵀ − A‖² + (λ/2) ‖B‖² with U, V
    orthogonal and B symmetric, positive, (d, d) each.  x → x U B^½,  z → z V B^½.

    U B Vᵀ can be any matrix W, and ‖B‖ = ‖W‖: this is a regression of A on both sides at once, which has a closed
    form, and U B Vᵀ is the singular value decomposition of the solution. The authors' program takes 150 steps of
    conjugate gradients instead, which end near it. Like VecMap it whitens and weights, but the weights come of the one
    criterion, in which words that are no pair count too.

    λ = penalty · mean(a) · mean(b) / p,  a and b the eigenvalues of XᵀX and ZᵀZ, p the number of pairs: a good λ is in
    proportion to the number of pairs and, where rows have length 1, to d⁻². Among several penalties the one with the
    best MRR on dev is taken, and the map is fitted once more to train and dev. The paper chooses from λ = 100 and 1000,
    which for its 5,000 pairs and 300 dimensions are penalties of about 2,000 and 20,000.
    """

    name = "geomm"
    paper = (
        "Jawanpuria, Balgovind, Kunchukuttan and Mishra (2019). "
        "Learning multilingual word embeddings in latent metric space: a geometric approach. TACL"
    )
    uses_dev = True

    search_space: ClassVar[SearchSpace] = {
        "penalty": Choice(((3e2, 1e3), (1e3, 3e3), (3e3, 1e4), (1e4, 3e4), (3e4, 1e5))),
        "normalize": Choice((("unit", "center"), ("unit", "center", "unit"))),
    }

    normalize: tuple[str, ...] = ("unit", "center")
    penalty: tuple[float, ...] = (3e3, 1e4)
    """One, or several to choose from on dev; without dev it is the first."""
    refit: bool = True
    """Whether to fit once more to train and dev, with the penalty that dev has chosen."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.penalty or not all(0 < value < float("inf") for value in self.penalty):
            given = ",".join(map(str, self.penalty)) or "nothing"
            raise SettingsError(f"{self.name}: penalty={given}; needed one or more numbers above 0")

    @property
    def learns_dev(self) -> bool:
        """With `refit`."""
        return self.refit

    def without_refit(self) -> Self:
        """Without `refit`."""
        return replace(self, refit=False)

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, trace: Trace, **_: Any) -> LinearMapping:
        """Closed form, once for each penalty and once in the end."""
        penalty = self.penalty[0]
        if dev is not None and len(self.penalty) > 1:
            penalty = self._choose(x, z, pairs, dev, trace)
        if dev is not None and self.refit:
            pairs = torch.cat([pairs, dev])
        return self._solve(x, z, pairs, penalty)

    def _choose(self, x: Tensor, z: Tensor, pairs: Tensor, dev: Tensor, trace: Trace) -> float:
        """The penalty with the best MRR on dev; of equals the first."""
        found, scores = [], []
        for penalty in self.penalty:
            mapping = self._solve(x, z, pairs, penalty)
            found.append(reciprocal_ranks(unit(mapping.source(x)), unit(mapping.target(z)), dev))
            scores.append(float(found[-1].mean()))
            trace(penalty=penalty, dev_mrr=scores[-1])
        kept = scores.index(max(scores))
        trace(kept_penalty=self.penalty[kept])
        if self.refit:
            trace(**held_out_record(self.name, 1 / found[kept]))
        return self.penalty[kept]

    def _solve(self, x: Tensor, z: Tensor, pairs: Tensor, penalty: float) -> LinearMapping:
        u, b, vt = torch.linalg.svd(bilinear(x, z, pairs, penalty / 2))
        return LinearMapping(source_matrix=(u * b.sqrt()).to(x), target_matrix=(vt.T * b.sqrt()).to(z))
