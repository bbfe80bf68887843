"""Adversarial training of a map, with refinement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

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

    Steps alternate: the discriminator learns to tell xW from z, and W: (d, d) learns to deceive it, starting from the
    identity. After each step, W ← (1 + β) W − β W Wᵀ W keeps W nearly orthogonal. The best epoch is that whose
    translations of the 10,000 most frequent source words have the highest mean cosine. Training often fails at random,
    so there are several restarts, and the best is chosen by the same criterion. `refinement` starts from the pairs of
    this map and returns the best of its own rounds; the authors' program may also return the adversarial map itself.
    A failure is recognised by pairs that do not agree with each other, and refused.

    A dictionary, if there is one, is used only to initialize W, as the Procrustes map.

    Deviations: the five epochs of the paper have 31,250 steps each, against a discriminator of 2048 hidden units, which
    takes hours on a CPU. Here epochs have 2000 steps, and the discriminator has an eighth of the units. Instead it
    learns faster, from rows scaled to a mean square of 1. So that it does not win at once, which would stop W from
    learning, it has a dropout of one half and more label smoothing. On real tables, with W half way to the right map,
    W then came nearer to it; with the values of the paper it moved away. β is larger too: on synthetic tables of 50
    dimensions W lost directions with the β of the paper. The paper does not normalize; here the default is that of most
    methods.
    """

    name = "adversarial"
    paper = "Lample, Conneau, Ranzato, Denoyer and Jégou (2018). Word translation without parallel data. ICLR"
    needs_pairs = False
    finds_pairs = True

    renamed: ClassVar[dict[str, str]] = {"least_agreement": "min_agreement"}  # old name

    epochs: int = 5
    """Epochs of `steps` steps; the best one is chosen."""
    steps: int = 2000
    """Steps of the map, per epoch. In the paper 31,250."""
    learning_rate: float = 0.1
    """Initial learning rate of the map; it shrinks when an epoch is worse than the best."""
    beta: float = 0.02
    """The β of the formula. In the paper 0.001."""
    restarts: int = 2
    """Number of trainings from the beginning; the best one is chosen."""
    adversary: Adversary = field(default_factory=Adversary)
    """The discriminator that the map has to deceive."""
    refinement: ProcrustesRefinement = field(
        default_factory=lambda: ProcrustesRefinement(
            rounds=4,
            induction=Induction(max_rank=15_000, candidates=200_000, beyond=False, direction="forward"),
        )
    )
    """Refines the map. Its round 0 is fitted to the pairs of the adversarial map; with 4 more, these are the 5 of the
    paper."""
    min_agreement: float = 0.4
    """Training has failed if the agreement of the final pairs is below this (0 to 1)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "epochs", "steps", "restarts")
        self._needs_at_least(0, "beta", "min_agreement")
        self._needs_above_zero("learning_rate")

    @property
    def rank_cut(self) -> int:
        """Words are drawn and pairs induced among the most frequent words only."""
        return min(self.adversary.max_rank, self.refinement.rank_cut)

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The refined map, if its pairs agree with each other."""
        mapping = self.refined(x, z, pairs, generator, trace)
        self.check(mapping.source(x), z, generator, trace)
        return mapping

    def refined(self, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, trace: Trace) -> LinearMapping:
        """The best of several adversarial maps, refined."""
        w = self.best_map(x, z, pairs, generator, trace.span(0, 0.8))
        induced = self.refinement.induction(unit(x @ w), unit(z), generator).pairs
        if not len(induced):
            raise failure(self.name, tries=self.restarts, found=0.0, needed=self.min_agreement)
        return self.refinement.fit(x, z, induced, generator=generator, trace=trace.span(0.8, 1))

    def best_map(self, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator, trace: Trace) -> Tensor:
        """W: (d, d) with the highest criterion among all restarts and epochs."""
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
        return max(tries, key=lambda selection: selection.criterion).best

    def game(self, x: Tensor, z: Tensor, start: Tensor, generator: Generator) -> Game:
        """A new discriminator, and the initial map."""
        return Game(self.adversary, x, z, start, generator, beta=self.beta)

    def check(self, mapped: Tensor, z: Tensor, generator: Generator, trace: Trace) -> None:
        """Refuse an orthogonal map whose pairs do not agree with each other.  mapped: (n, d), z: (m, d)."""
        agreement = mutual_agreement(unit(mapped), unit(z), generator)
        trace(agreement=agreement, needed=self.min_agreement)
        if not agreement >= self.min_agreement:
            raise failure(self.name, tries=self.restarts, found=agreement, needed=self.min_agreement)
