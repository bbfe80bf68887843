"""Adversarial training of a map against a discriminator; shared by the adversarial methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from bilex.errors import SettingsError
from bilex.training.network import Network, dropout

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Generator, Tensor

    from bilex.training.trace import Trace

SLOPE = 0.2
"""Slope of the leaky ReLU below 0."""
DECAY, SHRINK, MIN_RATE = 0.98, 0.5, 1e-5
"""Factors of the learning rate per epoch, and per epoch that is not the best; smallest learning rate."""


@dataclass(frozen=True, kw_only=True)
class Adversary:
    """Architecture and training of a discriminator between mapped words and words of the other language."""

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
    """A map W: (d, d) and a discriminator, which are trained alternately. Both are changed in place.

    Rows are scaled to a mean square of 1, so that learning rates mean the same for all tables.
    """

    def __init__(
        self, adversary: Adversary, x: Tensor, z: Tensor, w: Tensor, generator: Generator, *, beta: float = 0.0
    ) -> None:
        self.adversary, self.w, self.generator, self.beta = adversary, w, generator, beta
        x, z = x[: adversary.max_rank], z[: adversary.max_rank]
        self.x, self.z = (rows / rows.square().mean().sqrt() for rows in (x, z))
        self.discriminator = Discriminator(adversary, z, generator)

    def turn(self, rate: float) -> float:
        """Train the discriminator, then the map. Returns the mean loss of the discriminator."""
        loss = self.learn()
        self.deceive(self.draw(self.x), rate)
        return loss

    def learn(self) -> float:
        """All steps of the discriminator in a turn. Returns their mean loss."""
        losses = [
            self.discriminator.learn(self.draw(self.x) @ self.w, self.draw(self.z), self.generator)
            for _ in range(self.adversary.turns)
        ]
        return sum(losses) / len(losses)

    def deceive(self, x: Tensor, rate: float) -> None:
        """One adversarial step of W on these words: (b, d)."""
        self.descend(lambda w: self.discriminator.map_loss(x @ w), rate)

    def descend(self, loss: Callable[[Tensor], Tensor], rate: float) -> None:
        """W ← W − rate · ∂loss/∂W, then one step towards orthogonality."""
        w = self.w.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(w), w)
        self.w = towards_orthogonal(self.w - rate * gradient, self.beta)

    def draw(self, rows: Tensor) -> Tensor:
        """A random batch of rows, with replacement: (b, d)."""
        drawn = torch.randint(len(rows), (self.adversary.batch,), generator=self.generator)
        return rows[drawn.to(rows.device)]


class Discriminator:
    """The logit s(v) of the probability that v is a mapped word.

    s(v) = λ(λ(v A + a) B + b) c + e, λ the leaky ReLU.  v: (n, d), A: (d, h), B: (h, h), c: (h, 1); s: (n,).
    """

    def __init__(self, adversary: Adversary, like: Tensor, generator: Generator) -> None:
        self.adversary = adversary
        sizes = (like.shape[1], adversary.hidden, adversary.hidden, 1)
        self.network = Network.random(sizes, like, generator, slope=SLOPE)
        self.parameters = [*self.network.weights, *self.network.biases]  # the slope is not trained

    def __call__(self, v: Tensor) -> Tensor:
        """s(v)."""
        return self.network(v)[:, 0]

    def learn(self, mapped: Tensor, others: Tensor, generator: Generator) -> float:
        """One gradient step on the cross entropy H with smoothed labels. Returns H.  mapped, others: (b, d)."""
        truth = 1 - self.adversary.smoothing
        v = dropout(self.adversary.dropout, generator)(torch.cat([mapped, others]))
        labels = torch.cat([v.new_full((len(mapped),), truth), v.new_full((len(others),), 1 - truth)])
        loss = binary_cross_entropy_with_logits(self(v), labels)
        gradients = torch.autograd.grad(loss, self.parameters)
        with torch.no_grad():
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter -= self.adversary.learning_rate * gradient
        return float(loss.detach())

    def map_loss(self, mapped: Tensor) -> Tensor:
        """The loss of the map: H with labels exchanged, without dropout.  mapped: (b, d).

        H is a mean over words of both languages. The half of the other language does not depend on the map and is left
        out.
        """
        scores = self(mapped)
        return binary_cross_entropy_with_logits(scores, torch.full_like(scores, self.adversary.smoothing)) / 2


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
        part, loss = trace.span((epoch - 1) / epochs, epoch / epochs), 0.0
        progress = part.progress(f"epoch {epoch} of {epochs}")
        for step in range(1, steps + 1):
            loss += game.turn(selection.rate)
            progress(step, steps)
        value = criterion(game.w)
        trace(epoch=epoch, discriminator_loss=loss / steps, criterion=value, learning_rate=selection.rate)
        selection.update(game.w, value)
    return selection
