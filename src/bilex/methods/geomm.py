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
    """A rotation of each language and a shared metric, in closed form: GeoMM.

    Minimizes ‖X U B Vᵀ Zᵀ − A‖² + (λ/2) ‖B‖² with U, V orthogonal and B symmetric positive, (d, d) each.
    X: (n, d), Z: (m, d), the words of the train pairs, each once; A: (n, m), 1 where two words are a pair, else 0.
    x → x U B^½,  z → z V B^½.

    U B Vᵀ can be any matrix W, and ‖B‖ = ‖W‖. So this is a bilinear regression, which has a closed form, and U B Vᵀ is
    the singular value decomposition of its solution. The authors' program instead takes 150 conjugate gradient steps,
    which end close to it. Like VecMap this whitens and re-weights, but both follow from one criterion, in which words
    that are not a pair count too.

    λ = penalty · mean(a) · mean(b) / p,  a and b the eigenvalues of XᵀX and ZᵀZ, p the number of pairs: a good λ is
    proportional to the number of pairs and, with rows of length 1, to d⁻². Of several penalties, that with the best MRR
    on dev is chosen, and the map is fitted once more to train and dev. The paper chooses from λ = 100 and 1000, which
    for its 5,000 pairs and 300 dimensions are penalties of about 2,000 and 20,000.
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
    """One value, or several from which dev chooses; without dev, the first is used."""
    refit: bool = True
    """Whether to fit once more to train and dev together, with the penalty that dev has chosen."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.penalty or not all(0 < value < float("inf") for value in self.penalty):
            values = ",".join(map(str, self.penalty)) or "nothing"
            raise SettingsError(f"{self.name}: penalty={values}; needed one or more numbers above 0")

    @property
    def learns_dev(self) -> bool:
        """True with `refit`."""
        return self.refit

    def without_refit(self) -> Self:
        """The same with `refit=False`."""
        return replace(self, refit=False)

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, trace: Trace, **_: Any) -> LinearMapping:
        """Closed form: once per penalty, and once more at the end."""
        penalty = self.penalty[0]
        if dev is not None and len(self.penalty) > 1:
            penalty = self._choose(x, z, pairs, dev, trace)
        if dev is not None and self.refit:
            pairs = torch.cat([pairs, dev])
        return self._solve(x, z, pairs, penalty)

    def _choose(self, x: Tensor, z: Tensor, pairs: Tensor, dev: Tensor, trace: Trace) -> float:
        """The penalty with the best MRR on dev; with equal MRR, the first."""
        reciprocal, scores = [], []
        for penalty in self.penalty:
            mapping = self._solve(x, z, pairs, penalty)
            reciprocal.append(reciprocal_ranks(unit(mapping.source(x)), unit(mapping.target(z)), dev))
            scores.append(float(reciprocal[-1].mean()))
            trace(penalty=penalty, dev_mrr=scores[-1])
        best = scores.index(max(scores))
        trace(kept_penalty=self.penalty[best])
        if self.refit:
            trace(**held_out_record(self.name, 1 / reciprocal[best]))
        return self.penalty[best]

    def _solve(self, x: Tensor, z: Tensor, pairs: Tensor, penalty: float) -> LinearMapping:
        u, b, vt = torch.linalg.svd(bilinear(x, z, pairs, penalty / 2))
        return LinearMapping(source_matrix=(u * b.sqrt()).to(x), target_matrix=(vt.T * b.sqrt()).to(z))
