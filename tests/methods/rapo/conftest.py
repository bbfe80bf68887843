"""RAPO written out in plain loops, and what a real training does at each of its steps, to be compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import pytest
import torch

from bilex import get_method
from bilex.normalize import unit
from bilex.training.adam import Adam
from bilex.training.checkpoint import NO_CHECKPOINT, Checkpoint
from bilex.training.trace import Trace

SMALL = {
    "start": "procrustes",
    "tau_source": "0.5",
    "tau_target": "0.4",
    "hard": "3",
    "random": "4",
    "k": "3",
    "epochs": "2",
    "batch": "100",
    "learning_rate": "0.05",
    "shift": "0",
}
"""Every epoch is one step; words have neighbours; lists are shorter than tables; the towers are all there is."""


@dataclass(frozen=True)
class Problem:
    """What `fit` is given: tables of unit rows in double precision, and pairs of rows."""

    x: torch.Tensor
    z: torch.Tensor
    pairs: torch.Tensor

    def fit(self, *, dev=None, trace=None, checkpoint=NO_CHECKPOINT, rng_seed=0, warm=None, **settings):
        method = get_method("rapo", {**SMALL, **settings})
        generator, trace = torch.Generator().manual_seed(rng_seed), trace or Trace()
        more = {"generator": generator, "trace": trace, "checkpoint": checkpoint, "warm": warm}
        return method.fit(self.x, self.z, self.pairs, dev=dev, **more)


@pytest.fixture(scope="session")
def problem():
    """12 source and 14 target words; a source word has up to three translations, a target word up to two sources."""
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randn(n, 4, generator=generator, dtype=torch.float64) for n in (12, 14)]
    pairs = [(5, 9), (2, 5), (0, 3), (9, 9), (5, 5), (3, 0), (2, 2), (5, 13), (7, 7)]
    return Problem(unit(rows[0]), unit(rows[1]), torch.tensor(pairs))


@dataclass
class Watched:
    """A training, step by step."""

    steps: list = field(default_factory=list)
    """(parameters, gradients) by name of each step, before it is taken."""
    drawn: dict = field(default_factory=dict)
    """Random numbers by (how many there are to choose from, rows, columns), those of each call."""
    records: list = field(default_factory=list)
    """What was told of each epoch; the first is that of the start."""


@pytest.fixture
def watch(problem, monkeypatch):
    """Fit; words in random order are left in the order they have."""

    def fit(given=problem, **settings):
        found, live, saved = Watched(), [], []

        def step(optimizer, gradients):
            live[:] = optimizer.parameters
            zero = [torch.zeros_like(p) if g is None else g for p, g in zip(live, gradients, strict=True)]
            found.steps.append(([p.detach().clone() for p in live], zero))
            return take_step(optimizer, gradients)

        class Naming(Checkpoint):
            """What is saved has the names of the parameters."""

            def save(self, trace, arrays, **_):
                now = {name.removeprefix("now."): p for name, p in arrays.items() if name.startswith("now.")}
                saved.clear()
                for p in live:
                    saved.append(next(name for name, q in now.items() if name not in saved and torch.equal(p, q)))

        def draw(*args, **more):
            *_, high, shape = args
            found.drawn.setdefault((high, *shape), []).append(randint(*args, **more))
            return found.drawn[high, *shape][-1]

        randint, take_step = torch.randint, Adam.step
        monkeypatch.setattr(Adam, "step", step)
        monkeypatch.setattr(torch, "randint", draw)
        monkeypatch.setattr(torch, "randperm", lambda n, **_: torch.arange(n))
        trace = Trace()
        try:
            given.fit(trace=trace, checkpoint=Naming(), **settings)
        finally:
            monkeypatch.undo()
        found.steps = [tuple(dict(zip(saved, arrays, strict=True)) for arrays in both) for both in found.steps]
        found.records = [record for record in trace.records if "epoch" in record]
        return found

    return fit


@pytest.fixture
def rates(monkeypatch):
    """The learning rates of all steps that are taken."""
    found, take_step = [], Adam.step

    def step(optimizer, gradients):
        found.append(optimizer.learning_rate)
        take_step(optimizer, gradients)

    monkeypatch.setattr(Adam, "step", step)
    return found


@dataclass(frozen=True)
class Constants:
    """What is computed at the beginning of an epoch and then held: r of the keys, and hard negatives by word."""

    penalty: list
    hard: dict


@dataclass(frozen=True)
class Plain:
    """RAPO's losses, a word at a time; their gradients are those of the loops."""

    x: torch.Tensor
    z: torch.Tensor
    pairs: list
    settings: object

    @classmethod
    def of(cls, problem, **settings):
        pairs = [tuple(pair) for pair in problem.pairs.tolist()]
        return cls(problem.x, problem.z, pairs, get_method("rapo", {**SMALL, **settings}))

    @property
    def turned(self):
        """The other direction."""
        return replace(self, x=self.z, z=self.x, pairs=[(j, i) for i, j in self.pairs])

    def targets(self, word):
        return [j for i, j in self.pairs if i == word]

    def weight(self, word):
        counts = [len(self.targets(i)) for i, _ in self.pairs]
        return 1.0 if self.settings.count == "pairs" else sum(counts) / len(counts) / len(self.targets(word))

    @cached_property
    def contexts(self):
        """x̄ of every word of both sides."""
        found = {}
        for side, rows in (("source", self.x), ("target", self.z)):
            tau, cap, found[side] = getattr(self.settings, f"tau_{side}"), self.settings.context_cap, []
            for i, row in enumerate(rows):
                others = sorted((j for j in range(len(rows)) if j != i), key=lambda j: -float(rows[j] @ row))
                near = [rows[j] for j in others if rows[j] @ row > tau][: None if cap is None else cap - 1]
                found[side].append(sum(near, row) / (1 + len(near)))
        return found

    def mapped(self, p, side):
        """Every word: adapted by its context, projected, of length 1."""
        rows, matrix, found = {"source": self.x, "target": self.z}[side], self.matrix(p, side), []
        for row, context in zip(rows, self.contexts[side], strict=True):
            moved = row if self.settings.activation == "none" else row + self.sigma(context @ p[f"{side}_adapter"])
            projected = moved @ matrix
            found.append(projected / projected.square().sum().sqrt())
        return found

    def sigma(self, a):
        def plain(a):
            return 1 / (1 + torch.exp(-a))

        sigmas = {"tanh": torch.tanh, "sigmoid": lambda a: 2 * plain(a) - 1, "plain_sigmoid": plain}
        return sigmas.get(self.settings.activation, lambda a: a)(a)

    def matrix(self, p, side):
        """The product of the reflections, one after the other; or the matrix itself."""
        v = p[f"{side}_projection"]
        if self.settings.projection == "linear":
            return v
        product = torch.eye(v.shape[1], dtype=v.dtype)
        for reflection in v:
            outer = reflection[:, None] * reflection[None, :]
            product = product @ (torch.eye(len(reflection)) - 2 * outer / (reflection * reflection).sum())
        return product

    def constants(self, x, z, hard=None):
        """Of mapped tables; hard: those to take in place of the best-scored ones, (words, count)."""
        penalty = [sum(sorted((float(key @ query) for query in x), reverse=True)[: self.settings.k]) for key in z]
        penalty = [total / min(self.settings.k, len(x)) for total in penalty]
        words = sorted({i for i, _ in self.pairs})
        if hard is not None:
            return Constants(penalty, dict(zip(words, hard.tolist(), strict=True)))
        found = {}
        for i in words:
            order = sorted(range(len(z)), key=lambda j: penalty[j] - 2 * float(x[i] @ z[j]))
            found[i] = [j for j in order if j not in self.targets(i)][: self.settings.hard]
        return Constants(penalty, found)

    def ranking(self, x, z, batch, constants, random):
        """L_r of the pairs of these numbers, each with a row of random keys."""
        total = torch.zeros((), dtype=torch.float64)
        for number, drawn in zip(batch, random, strict=True):
            word, right = self.pairs[number]
            scores = [2 * x[word] @ z[j] - constants.penalty[j] for j in range(len(z))]
            wrong = [j for j in [*constants.hard[word], *drawn] if j not in self.targets(word)]
            losses = [torch.log(1 + torch.exp(scores[j] - scores[right])) for j in wrong]
            if losses:
                total = total + self.weight(word) * sum(losses) / len(losses)
        return total / len(batch)

    def losses(self, p, start, batch, constants, random):
        """By name, each with its weight. constants and random: of one direction, or of both."""
        settings = self.settings
        x, z = self.mapped(p, "source"), self.mapped(p, "target")
        ways = [(self, x, z), (self.turned, z, x)][: 2 if settings.two_way else 1]
        parts = [way.ranking(a, b, batch, *more) for (way, a, b), *more in zip(ways, constants, random, strict=True)]
        apart = [x[i] - z[j] for i, j in (self.pairs[number] for number in batch)]
        distances = [d.square().mean() if settings.distance == "squared" else d.square().sum().sqrt() for d in apart]
        names = [name for name in start if settings.regularize != "adapters" or "adapter" in name]
        moved = [p[name] - (start[name] if settings.origin == "start" else 0) for name in names]
        squares = [d.square().sum() for d in moved if d.any()]  # at the start there is no gradient
        squares = [sum(squares)] if squares and settings.regularize == "joint" else squares
        norms = [square.sqrt() for square in squares]
        grams = [a @ a.T - torch.eye(len(a)) for a in (self.matrix(p, "source"), self.matrix(p, "target"))]
        weighted = {
            "ranking": (settings.ranking, sum(parts) / len(parts)),
            "pairs": (settings.lambda_1, sum(distances) / len(distances)),
            "l2": (settings.lambda_2, sum(norms, torch.zeros(()))),
            "orthogonality": (settings.orthogonality, sum(g.square().sum() for g in grams)),
        }
        return {name: weight * loss for name, (weight, loss) in weighted.items() if weight}

    def training(self, watched):
        """Losses and gradients, by name, of each batch, and its size, under the parameters of a training watched.

        r and hard negatives are those of the beginning of the epoch. Pairs of one word follow each other.
        """
        order = list(range(len(self.pairs)))
        if self.settings.shuffle == "words":
            order.sort(key=lambda number: self.pairs[number][0])
        batches = [order[i : i + self.settings.batch] for i in range(0, len(order), self.settings.batch)]
        ways = [self, self.turned][: 2 if self.settings.two_way else 1]
        drawn = {place: iter(calls) for place, calls in watched.drawn.items()}
        start, steps = watched.steps[0][0], iter(watched.steps)
        for epoch in range(self.settings.epochs):
            constants = None
            for batch in batches:
                p = {name: array.clone().requires_grad_() for name, array in next(steps)[0].items()}
                constants = constants or self.refreshed(p, ways, drawn, warm=epoch < self.settings.warm_up)
                rows = len(batch) if self.settings.negatives == "fresh" else 1
                random = [next(drawn[len(way.z), rows, self.settings.random]).expand(len(batch), -1) for way in ways]
                losses = self.losses(p, start, batch, constants, [way.tolist() for way in random])
                gradients = torch.autograd.grad(sum(losses.values()), list(p.values()), materialize_grads=True)
                told = {name: float(loss.detach()) for name, loss in losses.items()}
                yield told, dict(zip(p, gradients, strict=True)), len(batch)

    def refreshed(self, p, ways, drawn, *, warm):
        """What is held during an epoch, in each direction; in the warm-up hard negatives are drawn."""
        with torch.no_grad():
            x, z = self.mapped(p, "source"), self.mapped(p, "target")
        found = []
        for way, queries, keys in zip(ways, (x, z), (z, x), strict=False):
            words = len({i for i, _ in way.pairs})
            hard = next(drawn[len(keys), words, self.settings.hard]) if warm else None
            found.append(way.constants(queries, keys, hard))
        return found


@pytest.fixture
def plain(problem):
    """The losses of the problem with these settings."""
    return lambda **settings: Plain.of(problem, **settings)
