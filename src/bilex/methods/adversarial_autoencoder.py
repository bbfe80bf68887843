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
    """Adversarial maps both ways between codes of the words, then VecMap on the pairs they find.

    1. Each language is encoded: x → code, the c numbers from which a linear decoder restores x best.
    2. G: (c, c) maps source codes to target codes and F target codes to source codes, each against a discriminator as
       in `adversarial`. Of a source code a, F also learns from ρ · mean|a − F(G(a))|, as G does of a target code.
    3. The best G is refined on the codes.
    4. Rounds of VecMap with symmetric re-weighting on the rows themselves, each with the forward pairs of the one
       before. Codes have only served to find the first ones.

    The paper trains its autoencoders. What they are trained for is known in closed form, the principal components, up
    to an invertible matrix, here a choice of signs: each component is skewed to the positive side, in both languages.
    Its third loss, of the words restored from F(G(a)), trains the decoders alone, which are no part of the result,
    and is left out. For the rest see `adversarial`. Rounds are fewer: in the paper 20 to 100 on the codes, of which
    the last is taken and not the best, and 10 to 20 of VecMap.
    """

    name = "adversarial_autoencoder"
    paper = (
        "Mohiuddin and Joty (2019). "
        "Revisiting adversarial autoencoder for unsupervised word translation with cycle consistency. NAACL"
    )

    code: int = 200
    """Numbers in a code, the c of the formula, or the dimension of the tables if that is less."""
    cycle: float = 5.0
    """Weight of the way there and back, the ρ of the formula."""
    rounds: int = 5
    """Rounds of VecMap."""
    steps: int = 1000
    """Steps of each map, per epoch. In the paper 31,250."""
    adversary: Adversary = field(default_factory=lambda: Adversary(max_rank=50_000))
    """The discriminators, one for each direction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "code", "rounds")
        self._needs_at_least(0, "cycle")

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """VecMap on the last pairs, if they are translations."""
        x_code, z_code = encode(x, self.code), encode(z, self.code)
        mapping = self.refined(x_code, z_code, pairs, generator, trace)
        mapped = mapping.source(x_code), mapping.target(z_code)
        for number in range(1, self.rounds + 1):
            induced = self.refinement.induction(unit(mapped[0]), unit(mapped[1]), generator)
            trace(reweighting=number, pairs=len(induced.pairs), mean_cosine=induced.best_cosine)
            pairs = induced.pairs
            if not len(pairs):
                raise failure(self.name, tries=self.restarts, found=0.0, needed=self.least_agreement)
            mapping = VecMap().fit(x, z, pairs)
            mapped = mapping.source(x), mapping.target(z)
        # With re-weighting few directions count, in which the pairs of any map agree.
        self.check(x @ procrustes(x[pairs[:, 0]], z[pairs[:, 1]]), z, generator, trace)
        return mapping

    def game(self, x: Tensor, z: Tensor, start: Tensor, generator: Generator) -> Game:
        """Two discriminators, and maps there and back to begin with."""
        return Cycle(self, x, z, start, generator)


class Cycle(Game):
    """G, which is W, with its discriminator, and a game beside it for the way back, whose map is F; c x c each."""

    def __init__(self, method: AdversarialAutoencoder, x: Tensor, z: Tensor, w: Tensor, generator: Generator) -> None:
        super().__init__(method.adversary, x, z, w, generator, beta=method.beta)
        self.back = Game(method.adversary, z, x, w.T, generator, beta=method.beta)
        self.weight = method.cycle

    def turn(self, rate: float) -> float:
        """Both discriminators learn, then both maps, to deceive and to undo; the discriminators' mean loss."""
        loss = (self.learn() + self.back.learn()) / 2
        for there, back in ((self, self.back), (self.back, self)):
            self._there_and_back(there, back, rate)
        return loss

    def _there_and_back(self, there: Game, back: Game, rate: float) -> None:
        a = there.draw(there.x)
        b = a @ there.w
        there.deceive(a, rate)
        back.descend(lambda w: self.weight * (a - b @ w).abs().mean(), rate)


def encode(rows: Tensor, c: int) -> Tensor:
    """The code of each word: its c first principal components, each skewed to the positive side.  (n, d) → (n, c).

    With E: (d, c) the first eigenvectors of the covariance of the rows, of mean μ: (x − μ) E. Of all the codes of
    c numbers, x can be restored best from this one by a linear map, with a squared error as small as possible.
    """
    centred = rows - rows.mean(0)
    _, vectors = torch.linalg.eigh((centred.T @ centred).double())
    codes = centred @ vectors.flip(1)[:, :c].to(rows)
    return torch.where(codes.pow(3).sum(0) < 0, -codes, codes)
