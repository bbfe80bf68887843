"""Contrastive learning of two linear maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch.nn import functional

from bilex.induction.induction import Induction
from bilex.mapping import LinearMapping
from bilex.methods.base import Method
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from bilex.settings.fields import Range, SearchSpace
from bilex.training.negatives import gold_lists, hard_negatives

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.trace import Trace

QUERY_BLOCK = 64
"""Queries whose keys are gathered at a time."""
PADDING_SCORE = -1e4
"""The score of a padded key; its exponential is 0."""


@dataclass(frozen=True, kw_only=True)
class Contrastive(Method):
    """Two linear maps that separate translations from hard negatives: ContrastiveBLI, its first stage.

    With s(x, z) the cosine of xA and zB over τ, A, B: (d, d), the loss of a pair (x, z) is InfoNCE,

    −log [exp s(x, z) / (exp s(x, z) + Σ exp s(x, z′) + Σ exp s(x′, z))],

    over hard negatives: the target words z′ nearest to x and the source words x′ nearest to z that are not
    translations. Each round starts from the A and B of VecMap and takes gradient steps on the mean loss; the norm of
    the gradient is clipped at `clip`. Then the best pairs by CSLS, in each direction, of words that are not in the
    dictionary are added to the pairs of VecMap in the next round.

    The defaults are those of the authors for 5,000 pairs; for 1,000 they have rounds=3, negatives=60, max_pairs=6000,
    max_rank=20000, train_induced=true, and 50 steps of 2 without decay. Deviations: only the first 30 of their 200
    steps are taken, with new negatives at every third step. On a CPU more steps take long, and the loss hardly falls
    further; with fewer and longer steps it rises. All known translations of a word are excluded from its negatives, not
    only that of the pair. The most confident pairs are those with the highest CSLS score, which has both penalties;
    theirs has the penalty of the candidate only. As in their program, lengths are constants in the gradient.
    """

    name = "contrastive"
    paper = (
        "Li, Liu, Collier, Korhonen and Vulić (2022). "
        "Improving word translation via two-stage contrastive learning. ACL"
    )
    finds_pairs = True

    search_space: ClassVar[SearchSpace] = {
        "steps": Range(10, 60, step=10),
        "learning_rate": Range(0.3, 6.0, log=True),
        "temperature": Range(0.1, 3.0, log=True),
        "negatives": Range(50, 250, step=50),
    }

    renamed: ClassVar[dict[str, str]] = {"most": "max_pairs"}  # old name

    normalize: tuple[str, ...] = ("unit",)
    rounds: int = 2
    """Number of times that VecMap is fitted and its maps are trained; from the second round on with induced pairs."""
    steps: int = 30
    """Steps per round. In the paper 200."""
    learning_rate: float = 1.5
    """Length of the first step, times the gradient."""
    decay: float = 0.99
    """Factor of the learning rate at each step."""
    clip: float = 0.15
    """The largest norm of the gradient, of A and B together."""
    temperature: float = 1.0
    """The τ of the formula."""
    negatives: int = 150
    """Negatives on each side."""
    pool: int = 60_000
    """Negatives are searched among this many of the most frequent words."""
    refresh: int = 3
    """Steps between two searches of negatives. In the paper 1."""
    max_pairs: int = 10_000
    """Pairs induced per direction, including those of words in the dictionary, which are then left out."""
    max_rank: int = 60_000
    """Pairs are induced among this many of the most frequent words."""
    train_induced: bool = False
    """Whether the gradient steps use the induced pairs too, and not only VecMap."""
    k: int = 10
    """Neighbours of CSLS."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "rounds", "steps", "negatives", "pool", "refresh", "max_pairs", "max_rank", "k")
        self._needs_above_zero("learning_rate", "decay", "clip", "temperature")

    @property
    def rank_cut(self) -> int:
        """Negatives and pairs are among the most frequent words only."""
        return min(self.pool, self.max_rank)

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The maps after the last round."""
        enlarged = pairs
        for number in range(self.rounds):
            mapping = VecMap().fit(x, z, enlarged)
            part = trace.span(number / self.rounds, (number + 1) / self.rounds)
            mapping, losses = self.descend(mapping, x, z, enlarged if self.train_induced else pairs, part)
            trace(round=number, pairs=len(enlarged), first_loss=losses[0], last_loss=losses[-1])
            if number + 1 < self.rounds:
                mapped = unit(mapping.source(x)), unit(mapping.target(z))
                enlarged = torch.cat([pairs, self.induce(*mapped, pairs, generator)])
        return mapping

    def descend(
        self, mapping: LinearMapping, x: Tensor, z: Tensor, pairs: Tensor, trace: Trace
    ) -> tuple[LinearMapping, list[float]]:
        """The maps after all steps of a round on these pairs (p, 2), and the loss before each step."""
        a, b = mapping.source_matrix, mapping.target_matrix
        assert b is not None
        forward, backward = _words_of(pairs), _words_of(pairs.flip(1))
        progress, losses = trace.progress("contrastive steps"), []
        for step in range(self.steps):
            a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
            x_words, z_words = _mapped(x[forward.words], a), _mapped(z[backward.words], b)
            x_pool, z_pool = _mapped(x[: self.pool], a), _mapped(z[: self.pool], b)
            if step % self.refresh == 0:
                negatives = [
                    hard_negatives(queries.detach(), keys.detach(), side.gold, self.negatives)
                    for queries, keys, side in ((x_words, z_pool, forward), (z_words, x_pool, backward))
                ]
            own = (x_words[forward.place] * z_words[backward.place]).sum(1) / self.temperature
            of_x = log_sum(x_words, z_pool, negatives[0], self.temperature)[forward.place]
            of_z = log_sum(z_words, x_pool, negatives[1], self.temperature)[backward.place]
            loss = (torch.stack([own, of_x, of_z]).logsumexp(0) - own).mean()
            by_a, by_b = torch.autograd.grad(loss, (a, b))
            norm = float(torch.cat([by_a, by_b]).norm())
            rate = self.learning_rate * self.decay**step * self.clip / max(norm, self.clip)
            a, b = a - rate * by_a, b - rate * by_b
            losses.append(float(loss.detach()))
            progress(step + 1, self.steps)
        return LinearMapping(source_matrix=a.detach(), target_matrix=b.detach()), losses

    def induce(self, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator) -> Tensor:
        """The best pairs of two mapped tables without any word of the dictionary, each pair once: (p, 2)."""
        candidates = Induction(max_rank=self.max_rank, k=self.k, direction="union")(x, z, generator)
        sources = min(self.max_rank, len(x))
        best = [
            confidence.topk(min(self.max_pairs, len(confidence))).indices
            for confidence in (candidates.confidence[:sources], candidates.confidence[sources:])
        ]
        induced: Tensor = torch.unique(candidates.pairs[torch.cat([best[0], sources + best[1]])], dim=0)
        known = torch.isin(induced[:, 0], pairs[:, 0]) | torch.isin(induced[:, 1], pairs[:, 1])
        return induced[~known]


def log_sum(queries: Tensor, keys: Tensor, chosen: Tensor, temperature: float) -> Tensor:
    """Log Σⱼ exp(q · kⱼ / τ) over the keys chosen for each query: (q,).  chosen: (q, c), padded with -1.

    Its gradient is that of q · Σⱼ pⱼ kⱼ / τ with pⱼ = softmax(q · kⱼ / τ) held constant, so the q x c rows are not
    stored for the backward pass.
    """
    with torch.no_grad():
        blocks = zip(torch.split(queries, QUERY_BLOCK), torch.split(chosen, QUERY_BLOCK), strict=True)
        scores = torch.cat([torch.einsum("qd,qcd->qc", rows, keys[indices]) for rows, indices in blocks]) / temperature
        scores = scores.masked_fill(chosen < 0, PADDING_SCORE)
        total, p = scores.logsumexp(1), scores.softmax(1)
    mean = functional.embedding_bag(chosen.clamp_min(0), keys, per_sample_weights=p, mode="sum")
    linear = (queries * mean).sum(1) / temperature
    return total + linear - linear.detach()


class _Words(NamedTuple):
    """The words of one side of the pairs, each once; the gold translations of each; the place of each pair's word."""

    words: Tensor
    gold: Tensor
    place: Tensor


def _words_of(pairs: Tensor) -> _Words:
    words, gold = gold_lists(pairs)
    return _Words(words, gold, torch.searchsorted(words, pairs[:, 0].contiguous()))


def _mapped(rows: Tensor, matrix: Tensor) -> Tensor:
    """unit(x A); the length is a constant in the gradient."""
    rows = rows @ matrix
    lengths: Tensor = rows.detach().norm(dim=1, keepdim=True).clamp_min(1e-12)
    return rows / lengths
