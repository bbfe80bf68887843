"""CSS: one map, handed from RCSLS to optimal transport to a larger lexicon and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch

from bilex.induction.induction import Induction
from bilex.linalg.householder import polar
from bilex.linalg.procrustes import procrustes
from bilex.linalg.transport import carry, import_ot
from bilex.mapping import LinearMapping
from bilex.methods.base import Method
from bilex.methods.rcsls import RCSLS
from bilex.normalize import unit
from bilex.retrieval.csls import local_mean
from bilex.search.topk import topk
from bilex.settings.fields import Range, SearchSpace

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.trace import Record, Trace


class Step(NamedTuple):
    """What a part of an epoch ends with: a map or a lexicon, and what is to be told of it."""

    result: Tensor
    record: Record


@dataclass(frozen=True, kw_only=True)
class Css(Method):
    """RCSLS, optimal transport and a larger lexicon in turn, all on one map: CSS (needs the extra `transport`).

    From the Procrustes map Q: (d, d), each epoch does three things, the last one only the first.

    1. Q ← Q − η times the gradient of the criterion of RCSLS, over batches of the lexicon. Q is unconstrained.
    2. For a sample X: (n, d) of the sources and the first m targets Z, the prior T = row-softmax((S − r) / τ), where
       S: (n, m) has the cosines under the Q of step 1 and r_j is the mean of the k largest of target j. Sinkhorn's
       plan for K = exp(X Q Zᵀ / ε) T with uniform marginals is hardened, P_ij = 1 at the largest of each row, and
       Q ← the orthogonal matrix nearest to Q + α Xᵀ P Z. Q begins as the one nearest to that of step 1.
    3. The lexicon is the dictionary and, after it, the surest mutual neighbours under Q; a pair may so come twice.

    The result is thus RCSLS, begun at another place and with more pairs. `pss` keeps the maps of 1 and 2 apart.

    The authors' program takes 2000 steps with 400 pairs and η = 1 in step 1, and in step 2 100 samples of 8000 words,
    in double precision. On a CPU that is hours. Here the steps of 1 are fewer and longer: as long as the neighbours are
    the same, the gradient does not depend on Q, so that many short steps are one long one. In all they go less far; to
    go as far was worse on words held out of train. The prior is made of cosines, so that the growth of Q in step 1 does
    not sharpen it, with r over `max_rank` sources, not the sample.
    """

    name = "css"
    paper = (
        "Zhao, Wang, Wu and Zhang (2020). Semi-supervised bilingual lexicon induction with two-way interaction. EMNLP"
    )
    finds_pairs = True

    search_space: ClassVar[SearchSpace] = {
        "epochs": Range(2, 8),
        "learning_rate": Range(1.0, 50.0, log=True),
        "step_size": Range(0.01, 1.0, log=True),
        "temperature": Range(0.03, 0.5, log=True),
    }

    epochs: int = 5
    """Times that the steps of RCSLS and of transport follow each other."""
    steps: int = 50
    """Steps of RCSLS, per epoch. In the paper 2000."""
    batch: int = 1000
    """Pairs in a step of RCSLS. In the paper 400."""
    learning_rate: float = 10.0
    """Learning rate of RCSLS, the η of the formula. In the paper 1."""
    k: int = 10
    """Neighbours of RCSLS, and of the prior."""
    pool: int = 100_000
    """RCSLS looks for neighbours among so many of the most frequent words of each language."""
    samples: int = 10
    """Steps of transport, per epoch. In the paper 100."""
    sample: int = 2000
    """Source words in a step of transport. In the paper 8000."""
    max_rank: int = 20_000
    """The words of a sample are drawn from so many of the most frequent ones."""
    candidates: int = 20_000
    """A sample is carried to so many of the most frequent target words."""
    step_size: float = 0.0625
    """Length of a step of transport, the α of the formula: 500 / 8000, as in the paper."""
    temperature: float = 0.1
    """How far the prior is from a hard choice, the τ of the formula."""
    epsilon: float = 1.0
    """Entropy of the transport plan, the ε of the formula: the less, the sharper."""
    tolerance: float = 1e-3
    """Sinkhorn's iterations end when the column sums of the plan are as near as this to uniform."""
    iterations: int = 100
    """Iterations of Sinkhorn, at most."""
    induction: Induction = field(
        default_factory=lambda: Induction(max_rank=20_000, confidence="mean_margin", max_pairs=10_000)
    )
    """Which mutual neighbours enlarge the lexicon after the first epoch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "epochs", "steps", "batch", "k", "pool", "samples", "sample", "max_rank", "candidates")
        self._needs_above_zero("learning_rate", "step_size", "temperature", "epsilon", "tolerance", "iterations")
        self._needs_unit_rows("pairs are induced by cosine")

    @property
    def rank_cut(self) -> int:
        """Transport and pairs are among the first words only."""
        return min(self.max_rank, self.candidates, self.induction.max_rank)

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The map after the last RCSLS."""
        import_ot(self.name)  # rather now than after the first part
        q, lexicon = procrustes(x[pairs[:, 0]], z[pairs[:, 1]]), pairs
        for epoch in range(1, self.epochs):
            first, second = self.halves(epoch, trace)
            q, supervised = self.supervise(q, x, z, lexicon, generator, first)
            q, carried = self.transport(q, x, z, generator, second, prior=q)
            lexicon, induced = self.enlarge(q, x, z, pairs, generator)
            trace(epoch=epoch, **supervised, **carried, **induced)
        q, supervised = self.supervise(q, x, z, lexicon, generator, self.halves(self.epochs, trace)[0])
        trace(epoch=self.epochs, **supervised)
        return LinearMapping(source_matrix=q)

    def halves(self, epoch: int, trace: Trace) -> tuple[Trace, Trace]:
        """For the two long steps of an epoch."""
        begin, middle, end = ((epoch - 1 + part) / self.epochs for part in (0, 0.5, 1))
        return trace.span(begin, middle), trace.span(middle, end)

    def supervise(self, q: Tensor, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, trace: Trace) -> Step:
        """Step 1: Q after gradient steps on batches of the pairs (p, 2)."""
        criterion, progress, total = RCSLS(k=self.k), trace.progress("RCSLS"), 0.0
        for step in range(1, self.steps + 1):
            batch = pairs[torch.randperm(len(pairs), generator=generator)[: self.batch].to(pairs.device)]
            loss, gradient = criterion.loss(q, x[: self.pool], z[: self.pool], x[batch[:, 0]], z[batch[:, 1]])
            q, total = q - self.learning_rate * gradient, total + loss
            progress(step, self.steps)
        return Step(q, {"pairs": len(pairs), "loss": total / self.steps})

    def transport(self, q: Tensor, x: Tensor, z: Tensor, generator: Generator, trace: Trace, *, prior: Tensor) -> Step:
        """Step 2: Q after steps of transport, with the prior of another map (d, d)."""
        x, z = x[: self.max_rank], z[: self.candidates]
        q, mapped, progress = polar(q)[1], unit(x @ prior), trace.progress("transport")
        r = local_mean(topk(z, mapped, self.k).values, self.k)
        for step in range(1, self.samples + 1):
            drawn = torch.randperm(len(x), generator=generator)[: self.sample].to(x.device)
            log_k = torch.addmm(-r / self.temperature, mapped[drawn], z.T, alpha=1 / self.temperature).log_softmax(1)
            log_k.addmm_(x[drawn] @ q, z.T, alpha=1 / self.epsilon)
            targets = carry(log_k, tolerance=self.tolerance, iterations=self.iterations)
            before, q = q, polar(q + self.step_size * x[drawn].T @ z[targets])[1]
            progress(step, self.samples)
        return Step(q, {"cosine": float((x[drawn] @ before * z[targets]).sum(1).mean())})

    def enlarge(self, q: Tensor, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator) -> Step:
        """Step 3: the dictionary (p, 2) and the pairs induced under Q."""
        induced = self.induction(unit(x @ q), z, generator).pairs
        return Step(torch.cat([pairs, induced]), {"induced": len(induced)})
