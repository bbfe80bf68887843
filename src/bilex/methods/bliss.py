"""BLISS: a dictionary, an adversary and a weak orthogonality loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.nn.functional import cosine_similarity

from bilex.evaluation.criterion import mean_csls
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.mapping import LinearMapping
from bilex.methods.base import Method
from bilex.methods.rcsls import RCSLS
from bilex.normalize import unit
from bilex.settings.fields import Range, SearchSpace
from bilex.training.adversarial import Adversary, Game, play

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Bliss(Method):
    """RCSLS on a dictionary, against a discriminator, with a weak orthogonality loss: BLISS(R).

    W: (d, d) starts as the Procrustes map. In each turn W takes one gradient step on each of three losses, and then the
    discriminator is trained:

    1. the adversarial loss, as in `adversarial`;
    2. the criterion of RCSLS, over a batch of the dictionary;
    3. −mean cos(x, x W Wᵀ): mapping a word and mapping it back should give the same word. Only this keeps W orthogonal.

    The best epoch is that whose translations, without hubs, have the highest mean CSLS score (`mean_csls`); the
    Procrustes map counts as epoch 0. Procrustes rounds follow, on the translations of all source words, as long as they
    improve this score.

    Deviations: the paper has 200 epochs of 157 turns, with batches of 32 pairs and rates of 0.1 / 3. Here there are
    fewer turns, with larger batches and longer steps. The rate of step 2 is constant, as in the authors' program: in
    total W moves as far along RCSLS, about 1,000 times the gradient. The rates of steps 1 and 3 fall, and W moves less
    far along these losses. After too few steps along RCSLS the Procrustes rounds raise the score while translations get
    worse; after enough of them the rounds are refused.
    """

    name = "bliss"
    paper = (
        "Patra, Moniz, Garg, Gormley and Neubig (2019). "
        "Bilingual lexicon induction with semi-supervision in non-isometric embedding spaces. ACL"
    )
    finds_pairs = True

    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Range(0.1, 5.0, log=True),
        "supervised_rate": Range(0.2, 5.0, log=True),
        "epochs": Range(5, 40, step=5),
        "rounds": Range(0, 5),
    }

    normalize: tuple[str, ...] = ("unit",)
    epochs: int = 20
    """Epochs of `steps` turns; the best one is chosen. In the paper 200."""
    steps: int = 50
    """Turns per epoch. In the paper 157."""
    learning_rate: float = 1.0
    """Initial learning rate of W; the adversarial loss and that of mapping back have a third of it each. In the paper
    0.1."""
    supervised_rate: float = 1.0
    """Learning rate of the RCSLS steps, the same in all turns. In the paper 0.0333."""
    batch: int = 128
    """Pairs per turn. In the paper 32."""
    k: int = 10
    """Neighbours of RCSLS."""
    pool: int = 100_000
    """RCSLS searches neighbours among this many of the most frequent words of each language."""
    adversary: Adversary = field(default_factory=lambda: Adversary(hidden=512, dropout=0.1, smoothing=0.1))
    """The discriminator between mapped words and words of the other language."""
    rounds: int = 3
    """Largest number of Procrustes rounds at the end."""
    max_rank: int = 15_000
    """Procrustes is fitted to translations among this many of the most frequent target words."""
    most_hits: int = 20
    """Target words that are the best translation of more source words than this are hubs, and left out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "epochs", "steps", "batch", "k", "pool", "max_rank", "most_hits")
        self._needs_at_least(0, "rounds")
        self._needs_above_zero("learning_rate", "supervised_rate")
        self._needs_unit_rows("its criterion is of cosines")

    @property
    def rank_cut(self) -> int:
        """Words are drawn, and translations used, among the most frequent words only."""
        return min(self.adversary.max_rank, self.pool, self.max_rank)

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The map of the best epoch, improved by Procrustes rounds."""
        selection = play(
            Turns(self, x, z, pairs, generator),
            lambda w: mean_csls(unit(x @ w), z),
            epochs=self.epochs,
            steps=self.steps,
            learning_rate=self.learning_rate,
            trace=trace,
        )
        w, best = selection.best, selection.criterion
        for number in range(1, self.rounds + 1):
            induced = self.translations(unit(x @ w), z, generator)
            if not len(induced):
                break
            candidate = procrustes(x[induced[:, 0]], z[induced[:, 1]])
            value = mean_csls(unit(x @ candidate), z)
            trace(round=number, pairs=len(induced), criterion=value)
            if value <= best:
                break
            w, best = candidate, value
        return LinearMapping(source_matrix=w)

    def translations(self, x: Tensor, z: Tensor, generator: Generator) -> Tensor:
        """All source words with their best targets by CSLS, without targets that are rare or hubs: (p, 2)."""
        induction = Induction(max_rank=max(len(x), len(z)), k=self.k, direction="forward")
        pairs = induction(x, z, generator).pairs
        hits = torch.bincount(pairs[:, 1], minlength=len(z))[pairs[:, 1]]
        return pairs[(pairs[:, 1] < self.max_rank) & (hits <= self.most_hits)]


class Turns(Game):
    """The map and its discriminator, with the dictionary."""

    def __init__(self, method: Bliss, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator) -> None:
        super().__init__(method.adversary, x, z, procrustes(x[pairs[:, 0]], z[pairs[:, 1]]), generator)
        self.pool = x[: method.pool], z[: method.pool]
        self.dictionary = x[pairs[:, 0]], z[pairs[:, 1]]
        self.batch, self.criterion = method.batch, RCSLS(k=method.k)
        self.supervised_rate = method.supervised_rate

    def turn(self, rate: float) -> float:
        """One step of W per loss, then the steps of the discriminator. Returns the mean loss of the discriminator."""
        self.deceive(self.draw(self.x), rate / 3)
        self.supervise()
        x = self.draw(self.x)
        self.descend(lambda w: -cosine_similarity(x, x @ w @ w.T).mean(), rate / 3)
        return self.learn()

    def supervise(self) -> None:
        """One RCSLS step, on a random batch of the pairs."""
        x, z = self.dictionary
        batch = torch.randperm(len(x), generator=self.generator)[: self.batch].to(x.device)
        _, gradient = self.criterion.loss(self.w, *self.pool, x[batch], z[batch])
        self.w = self.w - self.supervised_rate * gradient
