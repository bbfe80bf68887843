"""Adversarial maps between the codes of two autoencoders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from bilex.evaluation.agreement import failure
from bilex.linalg.procrustes import procrustes
from bilex.methods.adversarial import Adversarial
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from bilex.training.adversarial import Adversary, Game

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import LinearMapping
    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class AdversarialAutoencoder(Adversarial):
    """Adversarial maps in both directions between codes of the words, then VecMap on the pairs they induce.

    1. Each language is encoded: x → code, the c numbers from which a linear decoder reconstructs x best.
    2. G: (c, c) maps source codes to target codes, and F target codes to source codes, each against a discriminator as
       in `adversarial`. For a source code a, F also has the cycle loss ρ · mean|a − F(G(a))|; G has the same for target
       codes.
    3. The best G is refined on the codes.
    4. Rounds of VecMap with symmetric re-weighting on the rows, each on the forward pairs of the round before. The
       codes only serve to find the first pairs.

    Deviations: the paper trains its autoencoders. Their optimum is known in closed form: the principal components, up
    to an invertible matrix. Here this matrix is a choice of signs, so that each component is skewed to the positive
    side in both languages. The third loss of the paper, the reconstruction of words from F(G(a)), trains only the
    decoders, which are not part of the result; it is left out. There are fewer rounds: the paper has 20 to 100 on the
    codes, of which it takes the last and not the best, and 10 to 20 of VecMap. For the rest see `adversarial`.
    """

    name = "adversarial_autoencoder"
    paper = (
        "Mohiuddin and Joty (2019). "
        "Revisiting adversarial autoencoder for unsupervised word translation with cycle consistency. NAACL"
    )

    code: int = 200
    """Dimension of the codes, the c of the formula; at most the dimension of the tables."""
    cycle: float = 5.0
    """Weight of the cycle loss, the ρ of the formula."""
    rounds: int = 5
    """Rounds of VecMap."""
    adversary: Adversary = field(default_factory=lambda: Adversary(dropout=0.1, smoothing=0.1, max_rank=50_000))
    """The discriminators, one per direction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "code", "rounds")
        self._needs_at_least(0, "cycle")

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """VecMap on the last pairs, if they agree with each other."""
        x_code, z_code = encode(x, self.code), encode(z, self.code)
        mapping = self.refined(x_code, z_code, pairs, generator, trace)
        mapped = mapping.source(x_code), mapping.target(z_code)
        for number in range(1, self.rounds + 1):
            induced = self.refinement.induction(unit(mapped[0]), unit(mapped[1]), generator)
            trace(reweighting=number, pairs=len(induced.pairs), mean_cosine=induced.best_cosine)
            pairs = induced.pairs
            if not len(pairs):
                raise failure(self.name, tries=self.restarts, found=0.0, needed=self.min_agreement)
            mapping = VecMap().fit(x, z, pairs)
            mapped = mapping.source(x), mapping.target(z)
        # Without re-weighting: it leaves few directions, in which the pairs of any map agree.
        self.check(x @ procrustes(x[pairs[:, 0]], z[pairs[:, 1]]), z, generator, trace)
        return mapping

    def game(self, x: Tensor, z: Tensor, start: Tensor, generator: Generator) -> Game:
        """Two discriminators, and the initial maps in both directions."""
        return Cycle(self, x, z, start, generator)


class Cycle(Game):
    """G, stored as W, with its discriminator; `back` is the game of the other direction, with F.  (c, c) each."""

    def __init__(self, method: AdversarialAutoencoder, x: Tensor, z: Tensor, w: Tensor, generator: Generator) -> None:
        super().__init__(method.adversary, x, z, w, generator, beta=method.beta)
        self.back = Game(method.adversary, z, x, w.T, generator, beta=method.beta)
        self.weight = method.cycle

    def turn(self, rate: float) -> float:
        """Train both discriminators, then both maps on the adversarial and the cycle loss.

        Returns the mean loss of the discriminators.
        """
        loss = (self.learn() + self.back.learn()) / 2
        for forward, backward in ((self, self.back), (self.back, self)):
            self._cycle_step(forward, backward, rate)
        return loss

    def _cycle_step(self, forward: Game, backward: Game, rate: float) -> None:
        """The forward map learns to deceive, and the backward map to undo it."""
        a = forward.draw(forward.x)
        b = a @ forward.w
        forward.deceive(a, rate)
        gradient = -self.weight / a.numel() * b.T @ (a - b @ backward.w).sign()  # of ρ · mean|a − b F|
        backward.step(gradient, rate)


def encode(rows: Tensor, c: int) -> Tensor:
    """(x − μ) E, the first c principal components, each skewed to the positive side.  (n, d) → (n, c).

    μ: (d,), mean of the rows; E: (d, c), first eigenvectors of their covariance. Of all codes of c numbers, this
    one lets a linear map reconstruct x with the smallest squared error.
    """
    centred = rows - rows.mean(0)
    _, vectors = torch.linalg.eigh((centred.T @ centred).double())
    codes = centred @ vectors.flip(1)[:, :c].to(rows)
    return torch.where(codes.pow(3).sum(0) < 0, -codes, codes)
