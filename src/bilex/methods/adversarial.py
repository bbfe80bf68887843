"""Adversarial training of a map, with refinement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import torch

from bilex.evaluation.agreement import failure, mutual_agreement
from bilex.evaluation.criterion import translated_cosine
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.methods.base import Method
from bilex.methods.procrustes_refinement import ProcrustesRefinement
from bilex.normalize import unit
from bilex.training.adversarial import Adversary, Game, play, play_epoch

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import LinearMapping
    from bilex.training.trace import Trace


REPAIR_WORDS, REPAIR_ROUNDS = 4000, 6
"""Most frequent words, and rounds, of the sign of life."""


@dataclass(frozen=True, kw_only=True)
class Adversarial(Method):
    """A map whose words a discriminator cannot tell from those of the other language, then refined: MUSE, unsupervised.

    Steps alternate: the discriminator learns to tell xW from z, and W: (d, d) learns to deceive it, starting from the
    identity. (1 + β) W − β W Wᵀ W keeps W nearly orthogonal. `refinement` starts from the pairs of this map and returns
    the best of its own rounds; the authors' program may also return the adversarial map itself.

    Training takes off late: for thousands of steps nothing is right, and the mean cosine of the translations, by which
    the authors choose the epoch and shrink the learning rate, is flat or falls. So the rate is constant here, and the
    sign of life is another: after each epoch a few rounds of Procrustes on mutual nearest neighbours of the 4,000 most
    frequent words, from W, and then the agreement of these pairs with each other. Such rounds repair a W that itself
    translates hardly any word. Training ends as soon as enough pairs agree, and `refinement` starts from the repaired
    map. If they do not agree in the last epoch, training begins again with other random numbers, and in the end the map
    is refined whose pairs agree most. A failure is recognised in the same way after the refinement, and refused.

    A dictionary, if there is one, is used only to initialize W, as the Procrustes map.

    Deviations: the discriminator has an eighth of the paper's hidden units, which is as good. Rows are scaled to a mean
    square of 1, so that learning rates mean the same for all tables. As in the paper they are not normalized; with unit
    rows W learns half as fast. W is pulled towards orthogonality every ten steps, by as much. The paper has five
    epochs of 31,250 steps with a rate that shrinks (`choose_by="cosine"`).
    """

    name = "adversarial"
    paper = "Lample, Conneau, Ranzato, Denoyer and Jégou (2018). Word translation without parallel data. ICLR"
    needs_pairs = False
    finds_pairs = True

    added: ClassVar[tuple[str, ...]] = ("choose_by",)
    renamed: ClassVar[dict[str, str]] = {"least_agreement": "min_agreement"}  # old name

    normalize: tuple[str, ...] = ()
    epochs: int = 20
    """Largest number of epochs of `steps` steps; training ends before if the pairs agree."""
    steps: int = 1000
    """Steps of the map, per epoch."""
    learning_rate: float = 0.1
    """Learning rate of the map."""
    beta: float = 0.001
    """The β of the formula."""
    choose_by: Literal["agreement", "cosine"] = "agreement"
    """What chooses the epoch: the agreement of the pairs; or, as in the paper, the mean cosine of the translations of
    the 10,000 most frequent words, by which the rate shrinks too."""
    restarts: int = 3
    """Largest number of trainings from the beginning; there are no more once the pairs agree."""
    enough_agreement: float = 0.5
    """Training ends after the epoch in which the agreement of the pairs is at least this (0 to 1)."""
    adversary: Adversary = field(default_factory=lambda: Adversary(dropout=0.1, smoothing=0.1))
    """The discriminator that the map has to deceive."""
    refinement: ProcrustesRefinement = field(
        default_factory=lambda: ProcrustesRefinement(
            rounds=4,
            keep_dictionary=False,
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
        self._needs_at_least(0, "beta", "enough_agreement", "min_agreement")
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
        """W: (d, d) whose pairs agree most, among all restarts and epochs."""
        start = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
        if len(pairs):
            start = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
        best = Attempt(start, -1.0)
        for number in range(1, self.restarts + 1):
            part = trace.span((number - 1) / self.restarts, number / self.restarts).within(restart=number)
            attempt = self.train(self.game(x, z, start, generator), x, z, generator, part)
            best = max(best, attempt, key=lambda attempt: attempt.agreement)
            if best.agreement >= self.enough_agreement:
                break
        return best.w

    def train(self, game: Game, x: Tensor, z: Tensor, generator: Generator, trace: Trace) -> Attempt:
        """Train until the pairs agree. The repaired map of the epoch whose pairs agree most, or the map by cosine."""
        if self.choose_by == "cosine":
            w = play(
                game,
                lambda w: translated_cosine(unit(x @ w), unit(z)),
                epochs=self.epochs,
                steps=self.steps,
                learning_rate=self.learning_rate,
                trace=trace,
            ).best
            return Attempt(w, mutual_agreement(unit(x @ w), unit(z), generator, max_rank=REPAIR_WORDS))
        best = Attempt(game.w, -1.0)
        for epoch in range(1, self.epochs + 1):
            loss = play_epoch(game, epoch, self.epochs, steps=self.steps, rate=self.learning_rate, trace=trace)
            attempt = repair(game.w, x, z, generator)
            trace(epoch=epoch, discriminator_loss=loss, agreement=attempt.agreement)
            best = max(best, attempt, key=lambda attempt: attempt.agreement)
            if attempt.agreement >= self.enough_agreement:
                break
        return best

    def game(self, x: Tensor, z: Tensor, start: Tensor, generator: Generator) -> Game:
        """A new discriminator, and the initial map."""
        return Game(self.adversary, x, z, start, generator, beta=self.beta)

    def check(self, mapped: Tensor, z: Tensor, generator: Generator, trace: Trace) -> None:
        """Refuse an orthogonal map whose pairs do not agree with each other.  mapped: (n, d), z: (m, d)."""
        agreement = mutual_agreement(unit(mapped), unit(z), generator)
        trace(agreement=agreement, needed=self.min_agreement)
        if not agreement >= self.min_agreement:
            raise failure(self.name, tries=self.restarts, found=agreement, needed=self.min_agreement)


class Attempt(NamedTuple):
    """A map W: (d, d), and how much the pairs agree that it finds."""

    w: Tensor
    agreement: float


def repair(w: Tensor, x: Tensor, z: Tensor, generator: Generator) -> Attempt:
    """W after rounds of Procrustes on its mutual nearest neighbours among the most frequent words.

    W: (d, d) need not be orthogonal; x: (n, d), z: (m, d).
    """
    x, z = x[:REPAIR_WORDS], z[:REPAIR_WORDS]
    unit_z, induction = unit(z), Induction(max_rank=REPAIR_WORDS)
    for _ in range(REPAIR_ROUNDS):
        pairs = induction(unit(x @ w), unit_z, generator).pairs
        if not len(pairs):
            return Attempt(w, 0.0)
        w = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
    return Attempt(w, mutual_agreement(unit(x @ w), unit_z, generator, max_rank=REPAIR_WORDS))
