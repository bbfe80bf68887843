"""PSS: two maps side by side, one by RCSLS and one by optimal transport."""

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
    """RCSLS and optimal transport side by side, each with a map of its own: PSS (needs the extra `transport`).

    The steps are those of `css`. Each epoch step 1 goes on with Q₁ and step 2 with Q₂, orthogonal, whose prior comes
    from Q₁; step 3 takes the pairs of Q₂. Both begin as the Procrustes map, and Q₁ once more at the second epoch, on
    the first larger lexicon. In the end that of the two is taken whose translations have the higher mean CSLS score,
    hubs left out (`mean_csls`): no dictionary is needed for that.

    In the authors' program step 2 takes 50 samples; for the other settings and what deviates see `css`. Words are drawn
    from 200,000, and pairs from 100,000, as in their program: from whole tables, if these are smaller.
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
        import_ot(self.name)  # rather now than after the first part
        lexicon = pairs
        q_1 = q_2 = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
        for epoch in range(1, self.epochs + 1):
            if epoch == 2:
                q_1 = procrustes(x[lexicon[:, 0]], z[lexicon[:, 1]])
            first, second = self.halves(epoch, trace)
            q_1, supervised = self.supervise(q_1, x, z, lexicon, generator, first)
            q_2, carried = self.transport(q_2, x, z, generator, second, prior=q_1)
            record = supervised | carried
            if epoch < self.epochs:
                lexicon, induced = self.enlarge(q_2, x, z, pairs, generator)
                record |= induced
            trace(epoch=epoch, **record)
        scores = [mean_csls(unit(x @ q), z) for q in (q_1, q_2)]
        kept = 1 if scores[0] >= scores[1] else 2
        trace(mean_csls_1=scores[0], mean_csls_2=scores[1], kept_map=kept)
        return LinearMapping(source_matrix=(q_1, q_2)[kept - 1])
