"""The presets `authors` and `authors-en-zh`, against the authors' program as it is described, one word at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import torch

from bilex import get_method
from bilex.normalize import unit
from bilex.training.checkpoint import NO_CHECKPOINT

SMALLER = {"hard": "5", "random": "4", "batch": "8", "warm_up": "1", "epochs": "2", "k": "3"}
"""Of the numbers of the preset, those that are too large for a small table."""
TAU = 0.2
BETAS, EPSILON = (0.9, 0.999), 1e-8


@dataclass(frozen=True)
class Task:
    """Tables of unit rows, and pairs in the order of their words."""

    preset: str
    x: torch.Tensor
    z: torch.Tensor
    pairs: torch.Tensor

    def method(self, **more):
        taus = {"tau_source": str(TAU), "tau_target": str(TAU)}
        return get_method("rapo", {"preset": self.preset, **SMALLER, **taus, **more})

    def fit(self, *, trace, checkpoint=NO_CHECKPOINT, **more):
        generator = torch.Generator().manual_seed(0)
        given = {"dev": None, "generator": generator, "trace": trace, "checkpoint": checkpoint}
        return self.method(**more).fit(self.x, self.z, self.pairs, **given)


@pytest.fixture(params=["authors", "authors-en-zh"])
def task(request):
    generator = torch.Generator().manual_seed(5)
    x, z = (unit(torch.randn(n, 5, generator=generator, dtype=torch.float64)) for n in (30, 34))
    pairs = sorted({(int(i), int(j)) for i, j in zip(torch.arange(20) // 2 * 2, torch.randperm(20), strict=True)})
    return Task(request.param, x, z, torch.tensor(pairs))


@dataclass
class Program:
    """What the program does with a table of parameters."""

    task: Task
    rate: float
    mse: float
    l3: float
    moments: dict = field(default_factory=dict)

    def context(self, rows, i):
        """The mean of those of the 10 nearest words, the word among them, whose cosine is at least tau."""
        nearest = sorted(range(len(rows)), key=lambda j: -float(rows[i] @ rows[j]))[:10]
        near = [rows[j] for j in nearest if float(rows[i] @ rows[j]) >= TAU]
        return sum(near) / len(near)

    def tower(self, p, side):
        """h of every word: adapted, of length 1, and reflected by one vector after the other."""
        rows, found = {"source": self.task.x, "target": self.task.z}[side], []
        for i, row in enumerate(rows):
            h = row + torch.tanh(self.context(rows, i) @ p[f"{side}_adapter"])
            h = h / (h @ h).sqrt()
            for v in p[f"{side}_projection"]:
                h = h - 2 * (h @ v) / (v @ v) * v
            found.append(h)
        return found

    def penalties(self, x, z):
        """r of every target: its mean cosine with its 3 nearest sources."""
        return [sum(sorted((float(key @ query) for query in x), reverse=True)[:3]) / 3 for key in z]

    def hard(self, x, z, r, word):
        """The 5 targets of highest CSLS that are no translations."""
        gold = [j for i, j in self.task.pairs.tolist() if i == word]
        order = sorted(range(len(z)), key=lambda j: r[j] - 2 * float(x[word] @ z[j]))
        return [j for j in order if j not in gold][:5]

    def loss(self, p, batch, r, negatives):
        """Over pairs: a mean over negatives, and a mean over dimensions; and the two norms, which are not squared."""
        x, z = self.tower(p, "source"), self.tower(p, "target")
        ranking = square = 0.0
        for (i, j), wrong in zip(batch, negatives, strict=True):
            own = 2 * x[i] @ z[j] - r[j]
            losses = [-torch.log(torch.sigmoid(own - (2 * x[i] @ z[k] - r[k]))) for k in wrong]
            ranking = ranking + sum(losses) / len(losses) / len(batch)
            square = square + ((x[i] - z[j]) ** 2).mean() / len(batch)
        norms = sum((p[f"{side}_adapter"] ** 2).sum().sqrt() for side in ("source", "target"))
        return ranking + self.mse * square + self.l3 * norms

    def step(self, p, gradients):
        """Adam, from the formulas."""
        found = {}
        for name, g in gradients.items():
            t, m, v = self.moments.get(name, (0, torch.zeros_like(g), torch.zeros_like(g)))
            t, m, v = t + 1, BETAS[0] * m + (1 - BETAS[0]) * g, BETAS[1] * v + (1 - BETAS[1]) * g * g
            self.moments[name] = t, m, v
            m, v = m / (1 - BETAS[0] ** t), v / (1 - BETAS[1] ** t)
            found[name] = p[name] - self.rate * m / (v.sqrt() + EPSILON)
        return found


PROGRAMS = {
    "authors": {"rate": 0.0015, "mse": 0.5, "l3": 0.015},
    "authors-en-zh": {"rate": 0.002, "mse": 0.0, "l3": 0.012812358079718686},
}


def test_loss_gradient_steps_and_negatives_of_an_epoch(watch, task):
    """Of two epochs: in the first all negatives are random, in the second the hard ones are searched."""
    watched, program = watch(task), Program(task, **PROGRAMS[task.preset])
    pairs = [tuple(pair) for pair in task.pairs.tolist()]
    batches = [pairs[i : i + 8] for i in range(0, len(pairs), 8)]
    assert len(watched.steps) == 2 * len(batches)
    drawn, losses = {shape: iter(calls) for shape, calls in watched.drawn.items()}, []
    words, targets = sorted({i for i, _ in pairs}), len(task.z)
    for number, (parameters, gradients) in enumerate(watched.steps):
        epoch, batch = number // len(batches), batches[number % len(batches)]
        if number % len(batches) == 0:
            x, z = program.tower(parameters, "source"), program.tower(parameters, "target")
            r = program.penalties(x, z)
            random = next(drawn[targets, len(words), 5]).tolist() if epoch == 0 else None
            hard = {word: program.hard(x, z, r, word) if random is None else random.pop(0) for word in words}
        fresh = next(drawn[targets, len(batch), 4]).tolist()
        negatives = [
            [k for k in hard[i] + own if (i, k) not in pairs] for (i, _), own in zip(batch, fresh, strict=True)
        ]
        p = {name: array.clone().requires_grad_() for name, array in parameters.items()}
        loss = program.loss(p, batch, r, negatives)
        expected = dict(zip(p, torch.autograd.grad(loss, list(p.values())), strict=True))
        torch.testing.assert_close(gradients, expected, rtol=1e-9, atol=1e-12)
        losses.append(float(loss.detach()) * len(batch) / len(pairs))
        following = program.step(parameters, expected)
        if number + 1 < len(watched.steps):
            torch.testing.assert_close(watched.steps[number + 1][0], following, rtol=1e-9, atol=1e-12)
    told = [sum(record.get(name, 0.0) for name in ("ranking", "pairs", "l2")) for record in watched.records[1:]]
    sums = [sum(losses[: len(batches)]), sum(losses[len(batches) :])]
    assert told == pytest.approx(sums, rel=1e-9)
    assert not any(list(calls) for calls in drawn.values())


def test_the_start(watch, task):
    """Adapters uniform in ±1/√d; reflections from a normal distribution, as many as dimensions."""
    start = watch(task).steps[0][0]
    for side in ("source", "target"):
        assert start[f"{side}_adapter"].abs().max() <= 5**-0.5
        assert start[f"{side}_projection"].shape == (5, 5)
    arrays = torch.stack(list(start.values()))
    assert len(arrays.unique()) == arrays.numel()
    assert arrays.abs().max() > 1


def test_contexts_have_at_most_ten_words(task):
    near = [int((task.x @ row >= TAU).sum()) for row in task.x]
    assert min(near) < 10 < max(near), "so the cap and the threshold both count"
    assert task.method().context_cap == 10


def test_each_pair_has_random_negatives_of_its_own(watch, task):
    drawn = watch(task).drawn
    for shape, calls in drawn.items():
        rows = torch.cat(calls).tolist()
        assert len({tuple(row) for row in rows}) == len(rows), shape
