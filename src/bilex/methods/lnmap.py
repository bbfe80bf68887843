"""LNMap: autoencoders of both languages, and non-linear maps between their codes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
from torch.nn import functional

from bilex.errors import SettingsError
from bilex.induction.induction import Induction
from bilex.mapping import Mapping
from bilex.methods.base import Method
from bilex.normalize import unit
from bilex.training.adam import Adam
from bilex.training.network import Network, dropout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Generator, Tensor

    from bilex.storage.array_form import Forms
    from bilex.training.trace import Trace

ROW_BLOCK = 10_000
"""Rows that are mapped at a time."""
DECAY_INTERVAL = 0.3
"""The learning rate of the mappers falls to a tenth after each such share of the epochs of an iteration."""


@dataclass(frozen=True, kw_only=True)
class LNMap(Method):
    """An autoencoder of each language, and a non-linear map between their codes, with self-training: LNMap.

    x → G(e(x)), z → e′(z).

    1. In each language an encoder e and a decoder d minimize ‖d(e(x)) − x‖² over random words.
    2. Mappers G and F between the codes start as close to the identity as their tanh allows. With e, d of the source
       and the encoder e′ of the target, which is frozen, each iteration minimizes over the pairs
       ‖G(e(x)) − e′(z)‖² + ‖F(G(e(x))) − e(x)‖² + ‖d(F(G(e(x)))) − x‖²  (means over all numbers).
    3. The next iteration has the dictionary followed by the mutual neighbours by CSLS with the highest cosines, with
       `growth` more in each iteration; a pair can occur twice.

    Encoders and decoders are trained by Adam. Mappers are trained by gradient descent at a rate so low that they hardly
    change: it is mostly the encoder of the source that learns.

    Deviations: the authors have 10 iterations of 100 epochs and 25 epochs of 100,000 words for the autoencoders, at
    rates of 1e-4, which takes hours on a CPU; here there are fewer steps, and Adam has a higher rate. In their program
    the rate of the mappers keeps falling over all iterations, almost to 0; here each iteration starts again. They train
    a second model for the other direction; here backward translations are searched in the same space. The target codes
    e′(z) are computed without dropout.

    This is a baseline: on our tables the authors' own program is below Procrustes, by 2 points on en-fr and by 6 on
    en-fi. Its autoencoders give a row back with a cosine of 0.85 at most, and self-training does not make up for that.
    """

    name = "lnmap"
    paper = (
        "Mohiuddin, Bari and Joty (2020). "
        "LNMap: departures from isomorphic assumption in bilingual lexicon induction through non-linear mapping. EMNLP"
    )
    finds_pairs = True

    hidden: int = 400
    """Width of the two hidden layers of encoders and decoders."""
    code: int = 350
    """Dimension of the codes of both languages."""
    mapper_hidden: int = 400
    """Width of the hidden layer of the mappers."""
    autoencoder_epochs: int = 25
    """Epochs of the autoencoders."""
    samples: int = 25_600
    """Words in each epoch of the autoencoders. In the paper 100,000."""
    iterations: int = 5
    """Number of times that the maps are trained and pairs induced. In the paper 10."""
    epochs: int = 20
    """Epochs per iteration. In the paper 100."""
    batch: int = 128
    """Words or pairs per step."""
    learning_rate: float = 5e-4
    """Learning rate of Adam, for encoders and decoders. In the paper 1e-4."""
    mapper_rate: float = 1e-4
    """Initial learning rate of the mappers in each iteration."""
    dropout: float = 0.25
    """Dropout in encoders and decoders."""
    mapper_dropout: float = 0.1
    """Dropout in the mappers."""
    growth: int = 2000
    """Additional induced pairs in each iteration."""
    induction: Induction = field(default_factory=lambda: Induction(max_rank=15_000, candidates=30_000, beyond=False))
    """Which mutual neighbours may be added to the dictionary."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "hidden", "code", "mapper_hidden", "samples", "iterations", "epochs", "batch")
        self._needs_at_least(0, "autoencoder_epochs", "learning_rate", "mapper_rate", "growth")
        for name in ("dropout", "mapper_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingsError(f"{self.name}: {name}={getattr(self, name)}; needed a number from 0 to below 1")

    @property
    def rank_cut(self) -> int:
        """Pairs are induced among the most frequent words only."""
        return self.induction.max_rank

    def fit(self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any) -> LNMapMapping:
        """The networks after the last iteration."""
        source = self.autoencode(x, "source", generator, trace.span(0, 0.2))
        target = self.autoencode(z, "target", generator, trace.span(0.2, 0.4)).encoder.frozen()
        codes = _in_blocks(z, target)
        sizes = [self.code, self.mapper_hidden, self.code]
        forth, back = Network.identity(sizes, x), Network.identity(sizes, x)
        adam = Adam(source.parameters(), self.learning_rate)
        enlarged = pairs
        rest = trace.span(0.4, 1)
        for number in range(1, self.iterations + 1):
            part = rest.span((number - 1) / self.iterations, number / self.iterations)
            loss = self._iterate(x, codes, enlarged, source, forth, back, adam, generator, part)
            trace(iteration=number, pairs=len(enlarged), loss=loss)
            mapping = LNMapMapping(source_encoder=source.encoder.frozen(), mapper=forth.frozen(), target_encoder=target)
            if number < self.iterations:
                enlarged = torch.cat([pairs, self.induce(mapping.source(x), codes, self.growth * number, generator)])
        return mapping

    def autoencode(self, rows: Tensor, side: str, generator: Generator, trace: Trace) -> Autoencoder:
        """Step 1: train an autoencoder.  rows: (n, d)."""
        outer, h = rows.shape[1], self.hidden
        both = Autoencoder(
            Network.random([outer, h, h, self.code], rows, generator),
            Network.random([self.code, h, h, outer], rows, generator),
        )
        adam, drop = Adam(both.parameters(), self.learning_rate), dropout(self.dropout, generator)
        progress, loss = trace.progress(f"{side} autoencoder"), None
        for epoch in range(1, self.autoencoder_epochs + 1):
            drawn = torch.randint(len(rows), (self.samples,), generator=generator).to(rows.device)
            for batch in torch.split(drawn, self.batch):
                real = rows[batch]
                error = functional.mse_loss(both.decoder(both.encoder(real, drop), drop).tanh(), real)
                adam.step(torch.autograd.grad(error, adam.parameters))
            loss = float(error.detach())
            progress(epoch, self.autoencoder_epochs)
        trace(autoencoder=side, loss=loss)
        return both

    def losses(
        self, real: Tensor, codes: Tensor, source: Autoencoder, forth: Network, back: Network, generator: Generator
    ) -> Tensor:
        """The sum of step 2 for some pairs.  real: (b, d), codes: (b, c)."""
        drop, drop_mapped = dropout(self.dropout, generator), dropout(self.mapper_dropout, generator)
        own = source.encoder(real, drop)
        mapped = forth(own, drop_mapped)
        cycled = back(mapped, drop_mapped)
        again = source.decoder(cycled, drop).tanh()
        return functional.mse_loss(mapped, codes) + functional.mse_loss(cycled, own) + functional.mse_loss(again, real)

    def induce(self, x: Tensor, z: Tensor, count: int, generator: Generator) -> Tensor:
        """Step 3: at most `count` pairs of mapped rows: (p, 2)."""
        x, z = unit(x), unit(z)
        pairs = self.induction(x, z, generator).pairs
        cosines = (x[pairs[:, 0]] * z[pairs[:, 1]]).sum(1)
        return pairs[cosines.topk(min(count, len(pairs))).indices]

    def _iterate(
        self,
        x: Tensor,
        codes: Tensor,
        pairs: Tensor,
        source: Autoencoder,
        forth: Network,
        back: Network,
        adam: Adam,
        generator: Generator,
        trace: Trace,
    ) -> float:
        """Step 2. Returns the mean loss of the last epoch."""
        mappers = [*forth.parameters(), *back.parameters()]
        interval, progress = max(1, round(DECAY_INTERVAL * self.epochs)), trace.progress("self-training")
        for epoch in range(self.epochs):
            rate, total = self.mapper_rate * 0.1 ** (epoch // interval), 0.0
            order = torch.randperm(len(pairs), generator=generator).to(pairs.device)
            for batch in torch.split(pairs[order], self.batch):
                loss = self.losses(x[batch[:, 0]], codes[batch[:, 1]], source, forth, back, generator)
                gradients = torch.autograd.grad(loss, [*adam.parameters, *mappers])
                adam.step(gradients[: len(adam.parameters)])
                descend(mappers, gradients[len(adam.parameters) :], rate)
                total += float(loss.detach()) * len(batch) / len(pairs)
            progress(epoch + 1, self.epochs)
        return total


class Autoencoder(NamedTuple):
    """An encoder (d to c) and a decoder (c to d), whose output goes through tanh."""

    encoder: Network
    decoder: Network

    def parameters(self) -> list[Tensor]:
        """The parameters of both networks."""
        return self.encoder.parameters() + self.decoder.parameters()


def descend(parameters: Sequence[Tensor], gradients: Sequence[Tensor], rate: float) -> None:
    """Gradient descent: p ← p − rate · g for each parameter, in place."""
    with torch.no_grad():
        for p, g in zip(parameters, gradients, strict=True):
            p.add_(g, alpha=-rate)


def _in_blocks(rows: Tensor, *networks: Network) -> Tensor:
    """The networks applied one after the other, in blocks of rows, to save memory."""
    blocks = []
    for block in torch.split(rows, ROW_BLOCK):
        for network in networks:
            block = network(block)
        blocks.append(block)
    return torch.cat(blocks)


@dataclass(frozen=True, eq=False, kw_only=True)
class LNMapMapping(Mapping, kind="lnmap"):
    """x → G(e(x)), z → e′(z)."""

    source_encoder: Network
    mapper: Network
    target_encoder: Network

    def source(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Encoded, and mapped."""
        return _in_blocks(rows, self.source_encoder, self.mapper)

    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Encoded."""
        return _in_blocks(rows, self.target_encoder)

    def arrays(self) -> dict[str, Tensor]:
        """`source_encoder.weight.0`, ... of the three networks."""
        return {f"{name}.{key}": a for name, network in vars(self).items() for key, a in network.arrays().items()}

    @classmethod
    def forms(cls, arrays: dict[str, Tensor]) -> Forms:
        """Encoders take rows of the tables; the mapper takes source codes."""
        forms: Forms = {}
        for network, first in (("source_encoder", "d"), ("mapper", "codes"), ("target_encoder", "d")):
            own = Network.forms(_below(arrays, network), network, first)
            forms |= {f"{network}.{name}": form for name, form in own.items()}
        return forms

    @classmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`."""
        return cls(**{field.name: Network.from_arrays(_below(arrays, field.name)) for field in fields(cls)})


def _below(arrays: dict[str, Tensor], network: str) -> dict[str, Tensor]:
    prefix = f"{network}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
