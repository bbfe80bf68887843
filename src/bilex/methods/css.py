"""CSS: RCSLS, optimal transport and lexicon induction in turn, on one map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch

from bilex.induction.induction import Induction
from bilex.linalg.householder import polar
from bilex.linalg.procrustes import procrustes
from bilex.linalg.transport import carry, import_ot
from bilex.mapping import LinearMapping
from bilex.methods.base import Method, Requirement
from bilex.methods.rcsls import RCSLS
from bilex.normalize import unit
from bilex.retrieval.csls import nearest_mean
from bilex.settings.fields import Range, SearchSpace

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.trace import Record, Trace


class Step(NamedTuple):
    """Result of a step of an epoch: a map or a lexicon, and the figures to record."""

    result: Tensor
    record: Record


@dataclass(frozen=True, kw_only=True)
class Css(Method):
    """RCSLS, optimal transport and a larger lexicon in turn, all on one map: CSS (needs the extra `transport`).

    Q: (d, d) starts as the Procrustes map. Each epoch has three steps; the last epoch has only the first.

    1. Q ← Q − η · gradient of the RCSLS criterion, over batches of the lexicon. Q is unconstrained.
    2. For a sample X: (n, d) of the sources and the first m targets Z, the prior T = row-softmax((S − r) / τ), where
       S: (n, m) has the cosines under the Q of step 1 and r_j is the mean of the k largest of target j. Sinkhorn's
       plan for K = exp(X Q Zᵀ / ε) T with uniform marginals is hardened, P_ij = 1 at the largest of each row, and
       Q ← the orthogonal matrix nearest to Q + α Xᵀ P Z. Q starts as the orthogonal matrix nearest to that of step 1.
    3. The lexicon becomes the dictionary followed by the most confident mutual neighbours under Q; a pair can occur
       twice.

    So the result is RCSLS from another start and with more pairs. `pss` has separate maps for steps 1 and 2.

    The authors' program takes 2000 steps with 400 pairs and η = 1 in step 1, and in step 2 100 samples of 8000 words,
    in double precision, which takes hours on a CPU. Here step 1 has fewer and longer steps: as long as the neighbours
    do not change, the gradient does not depend on Q, so many short steps equal one long step. In total they are
    shorter, since the full length was worse on words held out of train. The prior is made of cosines, so it does not
    become sharper when Q grows in step 1; r is computed over `max_rank` sources, not over the sample.
    """

    name = "css"
    paper = (
        "Zhao, Wang, Wu and Zhang (2020). Semi-supervised bilingual lexicon induction with two-way interaction. EMNLP"
    )
    requires = Requirement("ot", "POT", "transport")
    finds_pairs = True

    search_space: ClassVar[SearchSpace] = {
        "epochs": Range(2, 8),
        "learning_rate": Range(1.0, 50.0, log=True),
        "step_size": Range(0.01, 1.0, log=True),
        "temperature": Range(0.03, 0.5, log=True),
    }

    epochs: int = 5
    """Number of times that RCSLS and transport alternate."""
    steps: int = 50
    """RCSLS steps per epoch. In the paper 2000."""
    batch: int = 1000
    """Pairs per RCSLS step. In the paper 400."""
    learning_rate: float = 10.0
    """Learning rate of RCSLS, the η of the formula. In the paper 1."""
    k: int = 10
    """Neighbours of RCSLS, and of the prior."""
    pool: int = 100_000
    """RCSLS searches neighbours among this many of the most frequent words of each language."""
    samples: int = 10
    """Transport steps per epoch. In the paper 100."""
    sample: int = 2000
    """Source words per transport step. In the paper 8000."""
    max_rank: int = 20_000
    """Samples are drawn from this many of the most frequent source words."""
    candidates: int = 20_000
    """A sample is transported to this many of the most frequent target words."""
    step_size: float = 0.0625
    """Length of a transport step, the α of the formula: 500 / 8000, as in the paper."""
    temperature: float = 0.1
    """Softmax temperature of the prior, the τ of the formula."""
    epsilon: float = 1.0
    """Entropic regularization of the transport plan, the ε of the formula; smaller is sharper."""
    tolerance: float = 1e-3
    """Sinkhorn's iterations end when the column sums of the plan are this close to uniform."""
    iterations: int = 100
    """Largest number of Sinkhorn iterations."""
    induction: Induction = field(
        default_factory=lambda: Induction(max_rank=20_000, confidence="mean_margin", max_pairs=10_000)
    )
    """Which mutual neighbours are added to the lexicon after the first epoch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "epochs", "steps", "batch", "k", "pool", "samples", "sample", "max_rank", "candidates")
        self._needs_above_zero("learning_rate", "step_size", "temperature", "epsilon", "tolerance", "iterations")
        self._needs_unit_rows("pairs are induced by cosine")

    @property
    def rank_cut(self) -> int:
        """Transport and induction look at the most frequent words only."""
        return min(self.max_rank, self.candidates, self.induction.max_rank)

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The map after the last RCSLS steps."""
        import_ot(self.name)  # fail now, not after the first step
        q, lexicon = procrustes(x[pairs[:, 0]], z[pairs[:, 1]]), pairs
        for epoch in range(1, self.epochs):
            first, second = self.halves(epoch, trace)
            q, supervised = self.supervise(q, x, z, lexicon, generator, first)
            q, transported = self.transport(q, x, z, generator, second, prior=q)
            lexicon, induced = self.enlarge(q, x, z, pairs, generator)
            trace(epoch=epoch, **supervised, **transported, **induced)
        q, supervised = self.supervise(q, x, z, lexicon, generator, self.halves(self.epochs, trace)[0])
        trace(epoch=self.epochs, **supervised)
        return LinearMapping(source_matrix=q)

    def halves(self, epoch: int, trace: Trace) -> tuple[Trace, Trace]:
        """Traces for the two long steps of an epoch."""
        begin, middle, end = ((epoch - 1 + part) / self.epochs for part in (0, 0.5, 1))
        return trace.span(begin, middle), trace.span(middle, end)

    def supervise(self, q: Tensor, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, trace: Trace) -> Step:
        """Step 1: Q after RCSLS steps on batches of the pairs (p, 2)."""
        criterion, progress, total = RCSLS(k=self.k), trace.progress("RCSLS"), 0.0
        for step in range(1, self.steps + 1):
            batch = pairs[torch.randperm(len(pairs), generator=generator)[: self.batch].to(pairs.device)]
            loss, gradient = criterion.loss(q, x[: self.pool], z[: self.pool], x[batch[:, 0]], z[batch[:, 1]])
            q, total = q - self.learning_rate * gradient, total + loss
            progress(step, self.steps)
        return Step(q, {"pairs": len(pairs), "loss": total / self.steps})

    def transport(self, q: Tensor, x: Tensor, z: Tensor, generator: Generator, trace: Trace, *, prior: Tensor) -> Step:
        """Step 2: Q after transport steps; the prior comes from another map (d, d)."""
        x, z = x[: self.max_rank], z[: self.candidates]
        q, mapped, progress = polar(q)[1], unit(x @ prior), trace.progress("transport")
        r = nearest_mean(z, mapped, self.k)
        for step in range(1, self.samples + 1):
            drawn = torch.randperm(len(x), generator=generator)[: self.sample].to(x.device)
            log_k = torch.addmm(-r / self.temperature, mapped[drawn], z.T, alpha=1 / self.temperature).log_softmax(1)
            log_k.addmm_(x[drawn] @ q, z.T, alpha=1 / self.epsilon)
            targets = carry(log_k, tolerance=self.tolerance, iterations=self.iterations)
            before, q = q, polar(q + self.step_size * x[drawn].T @ z[targets])[1]
            progress(step, self.samples)
        return Step(q, {"cosine": float((x[drawn] @ before * z[targets]).sum(1).mean())})

    def enlarge(self, q: Tensor, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator) -> Step:
        """Step 3: the dictionary (p, 2) followed by the pairs induced under Q."""
        induced = self.induction(unit(x @ q), z, generator).pairs
        return Step(torch.cat([pairs, induced]), {"induced": len(induced)})
