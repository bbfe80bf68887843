"""Adversarial training of a map against a discriminator; shared by the adversarial methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from bilex.errors import SettingsError
from bilex.training.discriminator import Discriminator

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Generator, Tensor

    from bilex.training.trace import Trace

DECAY, SHRINK, MIN_RATE = 0.98, 0.5, 1e-5
"""Factors of the learning rate per epoch, and per epoch that is not the best; smallest learning rate."""
PULL_EVERY, LARGEST_PULL = 10, 0.1
"""W is pulled towards orthogonality after so many steps, as much as for all of them at once, since each pull takes as
long as a step of the discriminator; with a larger pull than this, after every step."""


@dataclass(frozen=True, kw_only=True)
class Adversary:
    """Architecture and training of a discriminator between mapped words and words of the other language."""

    added: ClassVar[tuple[str, ...]] = ("scale",)

    hidden: int = 256
    """Units in each of its two hidden layers. In the papers 2048."""
    dropout: float = 0.5
    """Dropout of its input. In the papers 0.1."""
    smoothing: float = 0.2
    """Label smoothing: mapped words have the label 1 − smoothing, the others smoothing. In the papers 0.1 or 0.2."""
    turns: int = 5
    """Its steps per step of the map."""
    batch: int = 32
    """Words of each language per step."""
    learning_rate: float = 0.1
    """Learning rate of its gradient descent."""
    max_rank: int = 75_000
    """Words are drawn from this many of the most frequent ones."""
    scale: bool = True
    """Whether rows are scaled to a mean square of 1, so that learning rates mean the same for all tables."""

    def __post_init__(self) -> None:
        for name in ("hidden", "turns", "batch", "max_rank"):
            if getattr(self, name) < 1:
                raise SettingsError(f"adversary: {name}={getattr(self, name)}; needed at least 1")
        for name, end in (("dropout", 1.0), ("smoothing", 0.5)):
            if not 0 <= getattr(self, name) < end:
                raise SettingsError(f"adversary: {name}={getattr(self, name)}; needed at least 0, below {end}")
        if not self.learning_rate > 0:
            raise SettingsError(f"adversary: learning_rate={self.learning_rate}; needed a number above 0")


class Game:
    """A map W: (d, d) and a discriminator, which are trained alternately. Both are changed in place."""

    def __init__(
        self, adversary: Adversary, x: Tensor, z: Tensor, w: Tensor, generator: Generator, *, beta: float = 0.0
    ) -> None:
        self.adversary, self.w, self.generator = adversary, w, generator
        self.every = PULL_EVERY if beta * PULL_EVERY <= LARGEST_PULL else 1
        self.pull, self.steps = beta * self.every, 0
        x, z = x[: adversary.max_rank], z[: adversary.max_rank]
        self.x, self.z = (rows / rows.square().mean().sqrt() if adversary.scale else rows for rows in (x, z))
        self.discriminator = Discriminator(adversary, z, generator)

    def turn(self, rate: float) -> float:
        """Train the discriminator, then the map. Returns the mean loss of the discriminator."""
        loss = self.learn()
        self.deceive(self.draw(self.x), rate)
        return loss

    def learn(self) -> float:
        """All steps of the discriminator in a turn. Returns their mean loss."""
        turns, batch = self.adversary.turns, self.adversary.batch
        mapped, others = self.draw(self.x, turns) @ self.w, self.draw(self.z, turns)
        batches = zip(torch.split(mapped, batch), torch.split(others, batch), strict=True)
        return sum(self.discriminator.learn(*both, self.generator) for both in batches) / turns

    def deceive(self, x: Tensor, rate: float) -> None:
        """One adversarial step of W on these words: (b, d)."""
        self.step(x.T @ self.discriminator.map_gradient(x @ self.w), rate)

    def descend(self, loss: Callable[[Tensor], Tensor], rate: float) -> None:
        """One step of W on any loss."""
        w = self.w.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(w), w)
        self.step(gradient, rate)

    def draw(self, rows: Tensor, batches: int = 1) -> Tensor:
        """Random batches of rows, with replacement: (batches · b, d)."""
        drawn = torch.randint(len(rows), (batches * self.adversary.batch,), generator=self.generator)
        return rows[drawn.to(rows.device)]

    def step(self, gradient: Tensor, rate: float) -> None:
        """W ← W − rate · ∂loss/∂W, then towards orthogonality, if it is time."""
        self.w, self.steps = self.w - rate * gradient, self.steps + 1
        if self.steps % self.every == 0:
            self.w = towards_orthogonal(self.w, self.pull)


def towards_orthogonal(w: Tensor, beta: float) -> Tensor:
    """(1 + β) W − β W Wᵀ W: singular values s become s + β (s − s³), closer to 1.  W: (d, d)."""
    if not beta:
        return w
    return (1 + beta) * w - beta * (w @ w.T) @ w


class Selection:
    """The best map so far by a criterion, and the learning rate schedule.

    The rate decays after each epoch. It also shrinks after each epoch that is not a new best, except the first such
    epoch.
    """

    def __init__(self, w: Tensor, criterion: float, learning_rate: float) -> None:
        self.best, self.criterion, self.rate = w, criterion, learning_rate
        self._had_worse = False

    def update(self, w: Tensor, criterion: float) -> None:
        """End an epoch with this map and its criterion."""
        rate = self.rate * DECAY
        if criterion > self.criterion:
            self.best, self.criterion = w, criterion
        elif self._had_worse:
            rate *= SHRINK
        else:
            self._had_worse = True
        self.rate = max(rate, MIN_RATE)


def play(
    game: Game, criterion: Callable[[Tensor], float], *, epochs: int, steps: int, learning_rate: float, trace: Trace
) -> Selection:
    """Train for some epochs of `steps` turns, and select the best map; the initial map is a candidate too."""
    selection = Selection(game.w, criterion(game.w), learning_rate)
    trace(epoch=0, criterion=selection.criterion)
    for epoch in range(1, epochs + 1):
        loss = play_epoch(game, epoch, epochs, steps=steps, rate=selection.rate, trace=trace)
        value = criterion(game.w)
        trace(epoch=epoch, discriminator_loss=loss, criterion=value, learning_rate=selection.rate)
        selection.update(game.w, value)
    return selection


def play_epoch(game: Game, epoch: int, epochs: int, *, steps: int, rate: float, trace: Trace) -> float:
    """One epoch of several. Returns the mean loss of the discriminator."""
    progress, loss = trace.span((epoch - 1) / epochs, epoch / epochs).progress(f"epoch {epoch} of {epochs}"), 0.0
    for step in range(1, steps + 1):
        loss += game.turn(rate)
        progress(step, steps)
    return loss / steps
