"""Training loop: epochs with learning rate decay, early stopping on dev, and checkpoints that resume bit by bit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypedDict

import torch

from bilex.storage.array_form import ArrayForm, check_arrays
from bilex.storage.strict_json import check_type
from bilex.training.adam import Adam

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.search.blocks import Progress
    from bilex.training.checkpoint import Checkpoint, State
    from bilex.training.trace import Trace, Value


class Learner(Protocol):
    """What is trained: its losses, and what has to be recomputed in each epoch."""

    parameters: dict[str, Tensor]

    def refresh(self, epoch: int, *, last: bool) -> dict[str, float]:
        """At the start of an epoch: compute what stays constant in it. Returns figures; one of them chooses the epoch.

        last: no epoch follows, and only the figures are needed.
        """

    def order(self) -> Tensor:
        """The pair numbers in a new random order."""

    def losses(self, batch: Tensor) -> dict[str, Tensor]:
        """Losses by name, for a batch of pair numbers. Their sum is minimized."""

    def carried(self) -> dict[str, Tensor]:
        """State that lasts from epoch to epoch, other than the parameters."""

    def carry(self, arrays: dict[str, Tensor]) -> None:
        """The inverse of `carried`."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and how fast to train."""

    pairs: int
    epochs: int
    planned: int
    """Epochs of the learning rate decay; training may end earlier."""
    batch: int
    learning_rate: float
    decay: bool
    patience: int
    criterion: str = "dev"
    """The figure, on dev, by which the best epoch is chosen."""
    smooth: int
    """Epochs in its moving average; a single figure is mostly noise."""


def train(
    learner: Learner,
    schedule: Schedule,
    *,
    generator: Generator,
    trace: Trace,
    stage: dict[str, Value],
    checkpoint: Checkpoint,
    state: State | None,
) -> int:
    """Train, and return the number of the best epoch; without dev, the last. The learner has its parameters then.

    `stage` goes into every record and checkpoint. `state`, a checkpoint of this stage, resumes the training.
    """
    run = _Run(learner, schedule, generator)
    if state is not None:
        run.restore(state, stage)
    while True:
        started = time.perf_counter()
        with torch.no_grad():
            refreshed = learner.refresh(run.epoch, last=run.epoch >= schedule.epochs)
            run.choose(refreshed.get(schedule.criterion))
        seconds = {"refresh_seconds": time.perf_counter() - started}
        trace(**(stage | {"epoch": run.epoch} | refreshed | run.figures | seconds))
        if run.finished:
            return run.finish()
        part = trace.span(run.epoch / schedule.epochs, (run.epoch + 1) / schedule.epochs)
        run.train_epoch(part.progress(_label(run.epoch + 1, schedule, stage)))
        checkpoint.save(trace, run.arrays(), **stage, **run.values())


def _label(epoch: int, schedule: Schedule, stage: dict[str, Value]) -> str:
    """Label of the progress display. The last training, on train and dev, has no early stopping."""
    if stage.get("stage") == "refit":
        return f"last training, epoch {epoch} of {schedule.epochs}"
    return f"epoch {epoch} of at most {schedule.epochs}"


class _Run:
    """The state of a training: everything that changes."""

    def __init__(self, learner: Learner, schedule: Schedule, generator: Generator) -> None:
        self.learner, self.schedule, self.generator = learner, schedule, generator
        self.optimizer = Adam(learner.parameters.values(), schedule.learning_rate)
        self.epoch = self.best_epoch = 0
        self.best = float("-inf")
        self.history: list[float] = []
        self.best_parameters: dict[str, Tensor] = {}
        self.figures: dict[str, float] = {}

    @property
    def finished(self) -> bool:
        return self.epoch >= self.schedule.epochs or self.epoch - self.best_epoch >= self.schedule.patience

    def choose(self, dev: float | None) -> None:
        """Store the parameters if they are the best so far. Without a dev figure, the last are the best."""
        if dev is not None:
            self.history.append(dev)
            recent = self.history[-self.schedule.smooth :]
            dev = sum(recent) / len(recent)
        if dev is None or dev > self.best:
            self.best, self.best_epoch = dev or 0.0, self.epoch
            self.best_parameters = {name: p.detach().clone() for name, p in self.learner.parameters.items()}

    def train_epoch(self, progress: Progress) -> None:
        """One pass over the pairs in random order."""
        started, totals = time.perf_counter(), dict[str, float]()
        batches = torch.split(self.learner.order(), self.schedule.batch)
        for i, batch in enumerate(batches):
            self._set_rate((self.epoch + i / len(batches)) / max(1, self.schedule.planned))
            losses = self.learner.losses(batch)
            total = torch.stack(list(losses.values())).sum()
            self.optimizer.step(torch.autograd.grad(total, self.optimizer.parameters, allow_unused=True))
            for name, loss in losses.items():
                totals[name] = totals.get(name, 0.0) + float(loss.detach()) * len(batch) / self.schedule.pairs
            progress(i + 1, len(batches))
        self.figures = {**totals, "train_seconds": time.perf_counter() - started}
        self.epoch += 1

    def _set_rate(self, done: float) -> None:
        """With `decay`, the learning rate falls linearly to 0 at the last planned epoch."""
        if self.schedule.decay:
            self.optimizer.learning_rate = self.schedule.learning_rate * (1 - done)

    def finish(self) -> int:
        with torch.no_grad():
            for name, parameter in self.learner.parameters.items():
                parameter.copy_(self.best_parameters[name])
        return self.best_epoch

    def arrays(self) -> dict[str, Tensor]:
        arrays = {"generator": self.generator.get_state(), "history": torch.tensor(self.history, dtype=torch.float64)}
        arrays |= {f"kept.{name}": array for name, array in self.learner.carried().items()}
        for i, (name, parameter) in enumerate(self.learner.parameters.items()):
            arrays |= {f"now.{name}": parameter, f"best.{name}": self.best_parameters[name]}
            arrays[f"adam.{name}.steps"] = torch.tensor(self.optimizer.steps[i])
            arrays[f"adam.{name}.first_moment"] = self.optimizer.first_moments[i]
            arrays[f"adam.{name}.second_moment"] = self.optimizer.second_moments[i]
        return arrays

    def values(self) -> dict[str, Value]:
        return {"epoch": self.epoch, "best": self.best, "best_epoch": self.best_epoch, **self.figures}

    def restore(self, state: State, stage: dict[str, Value]) -> None:
        """The inverse of `arrays` and `values`."""
        with state.unpacking():
            if any(state.values[name] != value for name, value in stage.items()):
                raise ValueError("it was saved in another stage of the training")
            self._check(state)
            arrays, values = state.arrays, dict(state.values)
            self.generator.set_state(arrays["generator"])
            self.history = arrays["history"].tolist()
            self.learner.carry(_below(arrays, "kept."))
            self.epoch, self.best_epoch = int(values.pop("epoch")), int(values.pop("best_epoch"))  # type: ignore[arg-type]
            self.best = float(values.pop("best"))  # type: ignore[arg-type]
            self.figures = {name: value for name, value in values.items() if isinstance(value, float)}
            for i, (name, parameter) in enumerate(self.learner.parameters.items()):
                with torch.no_grad():
                    parameter.copy_(arrays[f"now.{name}"])
                self.best_parameters[name] = arrays[f"best.{name}"].to(parameter)
                self.optimizer.steps[i] = int(arrays[f"adam.{name}.steps"])
                self.optimizer.first_moments[i] = arrays[f"adam.{name}.first_moment"].to(parameter)
                self.optimizer.second_moments[i] = arrays[f"adam.{name}.second_moment"].to(parameter)

    def _check(self, state: State) -> None:
        """ValueError unless arrays and values fit these parameters."""
        check_type(state.values, Values)
        epochs = len(state.arrays["history"]) if "history" in state.arrays else 0
        forms = {"generator": ArrayForm.of(self.generator.get_state()), "history": ArrayForm((epochs,))}
        forms |= {name: ArrayForm.of(array) for name, array in state.arrays.items() if name.startswith("kept.")}
        for name, parameter in self.learner.parameters.items():
            like, prefix = ArrayForm.of(parameter), f"adam.{name}."
            forms |= {f"now.{name}": like, f"best.{name}": like, f"{prefix}steps": ArrayForm((), "int64")}
            forms |= {f"{prefix}first_moment": like, f"{prefix}second_moment": like}
        check_arrays(state.arrays, forms)
        steps = int(state.values["epoch"]) * -(-self.schedule.pairs // self.schedule.batch)  # type: ignore[arg-type]
        for name in self.learner.parameters:  # a parameter that no loss depends on takes no steps
            if int(state.arrays[f"adam.{name}.steps"]) not in (0, steps):
                raise ValueError(f"the optimizer state of {name} is not that of {steps} steps")
            if state.arrays[f"adam.{name}.second_moment"].min() < 0:
                raise ValueError("the optimizer state has negative numbers where none can be")
        if min(state.values[name] for name in ("epoch", "best_epoch")) < 0:  # type: ignore[operator,type-var]
            raise ValueError("an epoch number is negative")


class Values(TypedDict):
    """Plain values of a saved state."""

    epoch: int
    best_epoch: int
    best: float


def _below(arrays: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
