"""PSS: two maps in parallel, one by RCSLS and one by optimal transport."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bilex.evaluation.criterion import mean_csls
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.linalg.transport import import_ot
from bilex.mapping import LinearMapping
from bilex.methods.css import Css
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Pss(Css):
    """RCSLS and optimal transport in parallel, each with its own map: PSS (needs the extra `transport`).

    The steps are those of `css`. In each epoch step 1 updates Q₁, and step 2 updates Q₂, which is orthogonal and whose
    prior comes from Q₁; step 3 induces the pairs with Q₂. Both start as the Procrustes map. In the second epoch Q₁
    starts again as the Procrustes map of the enlarged lexicon. At the end, the better of the two is returned: that
    whose translations, without hubs, have the higher mean CSLS score (`mean_csls`). This needs no dictionary.

    In the authors' program step 2 has 50 samples; see `css` for the other settings and for deviations. Words are drawn
    from the 200,000 most frequent, and pairs from 100,000, as in their program, or from whole tables if these are
    smaller.
    """

    name = "pss"

    max_rank: int = 200_000
    induction: Induction = field(
        default_factory=lambda: Induction(max_rank=100_000, confidence="mean_margin", max_pairs=10_000)
    )

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The better of the two maps."""
        import_ot(self.name)  # fail now, not after the first step
        lexicon = pairs
        q_1 = q_2 = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
        for epoch in range(1, self.epochs + 1):
            if epoch == 2:
                q_1 = procrustes(x[lexicon[:, 0]], z[lexicon[:, 1]])
            first, second = self.halves(epoch, trace)
            q_1, supervised = self.supervise(q_1, x, z, lexicon, generator, first)
            q_2, transported = self.transport(q_2, x, z, generator, second, prior=q_1)
            record = supervised | transported
            if epoch < self.epochs:
                lexicon, induced = self.enlarge(q_2, x, z, pairs, generator)
                record |= induced
            trace(epoch=epoch, **record)
        scores = [mean_csls(unit(x @ q), z) for q in (q_1, q_2)]
        best = 1 if scores[0] >= scores[1] else 2
        trace(mean_csls_1=scores[0], mean_csls_2=scores[1], kept_map=best)
        return LinearMapping(source_matrix=(q_1, q_2)[best - 1])
