"""An adversarial map, refined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from bilex.evaluation.agreement import failure, mutual_agreement
from bilex.evaluation.criterion import translated_cosine
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.methods.base import Method
from bilex.methods.procrustes_refinement import ProcrustesRefinement
from bilex.normalize import unit
from bilex.training.adversarial import Adversary, Game, play

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import LinearMapping
    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Adversarial(Method):
    """A map whose words a discriminator cannot tell from those of the other language, then refined: MUSE, unsupervised.

    By turns the discriminator learns to tell xW from z, and W: (d, d), which begins as the identity, to deceive it;
    W ← (1 + β) W − β W Wᵀ W after each step keeps it nearly orthogonal. The epoch is kept whose translations of the
    10,000 most frequent source words have the highest mean cosine. All this fails often, by chance: it is done several
    times, and the best is taken by the same criterion. `refinement` begins with the pairs that it finds, and ends with
    the best of its rounds; in the authors' program the adversarial map itself may be kept too. Pairs that do not agree
    with each other give a failure away, and it is refused.

    A dictionary, if there is one, is only where W begins: at the Procrustes map.

    The paper's five epochs have 31,250 steps each, against a discriminator of 2048 hidden units: on a CPU these are
    hours. Here they have 2000, and the discriminator has an eighth of the units. In return it learns faster, from
    rows scaled to numbers of mean square 1. So it would soon know everything, and W would learn nothing: half of what
    it sees is dropped, and its labels are smoothed more. On real tables, with W half way to the right map, it is then
    drawn nearer to it; as in the paper it was driven away. β is larger, too: on made-up tables of 50 dimensions W lost
    directions altogether with the paper's. The paper does not normalize; here it is as for most methods.
    """

    name = "adversarial"
    paper = "Lample, Conneau, Ranzato, Denoyer and Jégou (2018). Word translation without parallel data. ICLR"
    needs_pairs = False
    finds_pairs = True

    epochs: int = 5
    """Passes of `steps` steps; the best one is kept."""
    steps: int = 2000
    """Steps of the map, per epoch. In the paper 31,250."""
    learning_rate: float = 0.1
    """Learning rate of the map, to begin with; it shrinks as epochs get worse."""
    beta: float = 0.02
    """The β of the formula. In the paper 0.001."""
    restarts: int = 2
    """So often it is done from the beginning; the best is kept."""
    adversary: Adversary = field(default_factory=Adversary)
    """The discriminator that the map has to deceive."""
    refinement: ProcrustesRefinement = field(
        default_factory=lambda: ProcrustesRefinement(
            rounds=4,
            induction=Induction(max_rank=15_000, candidates=200_000, beyond=False, direction="forward"),
        )
    )
    """What refines the map. Its first round is that of the adversarial map's pairs: 4 more make the paper's 5."""
    least_agreement: float = 0.4
    """It has failed if the pairs in the end agree with each other less than this (0 to 1)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "epochs", "steps", "restarts")
        self._needs_at_least(0, "beta", "least_agreement")
        self._needs_above_zero("learning_rate")

    @property
    def rank_cut(self) -> int:
        """Words are drawn and pairs are induced among the first ones only."""
        return min(self.adversary.max_rank, self.refinement.rank_cut)

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The refined map, if it is one of translations."""
        mapping = self.refined(x, z, pairs, generator, trace)
        self.check(mapping.source(x), z, generator, trace)
        return mapping

    def refined(self, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, trace: Trace) -> LinearMapping:
        """The best of several adversarial maps, refined."""
        w = self.best_map(x, z, pairs, generator, trace.span(0, 0.8))
        found = self.refinement.induction(unit(x @ w), unit(z), generator).pairs
        if not len(found):
            raise failure(self.name, tries=self.restarts, found=0.0, needed=self.least_agreement)
        return self.refinement.fit(x, z, found, generator=generator, trace=trace.span(0.8, 1))

    def best_map(self, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, trace: Trace) -> Tensor:
        """W: (d, d) of the highest criterion, of all restarts and epochs."""
        start = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
        if len(pairs):
            start = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
        unit_z = unit(z)
        tries = [
            play(
                self.game(x, z, start, generator),
                lambda w: translated_cosine(unit(x @ w), unit_z),
                epochs=self.epochs,
                steps=self.steps,
                learning_rate=self.learning_rate,
                trace=trace.span((number - 1) / self.restarts, number / self.restarts).within(restart=number),
            )
            for number in range(1, self.restarts + 1)
        ]
        return max(tries, key=lambda made: made.criterion).best

    def game(self, x: Tensor, z: Tensor, start: Tensor, generator: Generator) -> Game:
        """A new discriminator, and the map to begin with."""
        return Game(self.adversary, x, z, start, generator, beta=self.beta)

    def check(self, mapped: Tensor, z: Tensor, generator: Generator, trace: Trace) -> None:
        """Refuse an orthogonal map that only suits itself.  mapped: (n, d), z: (m, d)."""
        found = mutual_agreement(unit(mapped), unit(z), generator)
        trace(agreement=found, needed=self.least_agreement)
        if not found >= self.least_agreement:
            raise failure(self.name, tries=self.restarts, found=found, needed=self.least_agreement)
