"""One trial: fit with some settings, and measure the translations of the dev words.

A trial is a function of plain values, which can be sent to another process; it does not depend on the search. Slow
imports are inside functions, because the process that starts the trials does not run them.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from bilex.errors import BilexError, error_with_type
from bilex.settings.fields import update_settings
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.fitting.inputs import Inputs
    from bilex.training.trace import Record

UNPRUNED_EPOCHS = 3
"""Epochs before a trial can be pruned."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A trial to run."""

    number: int
    """Trial 0 has the default settings."""
    settings: dict[str, str]
    pruning_thresholds: tuple[float, ...] = ()
    """The trial is pruned at epoch i if its best dev MRR so far is below threshold i; the last one also holds later."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a trial."""

    number: int
    settings: dict[str, str]
    state: Literal["done", "stopped", "failed"]
    """stopped: pruned, below the thresholds; failed: ended by an error."""
    seconds: float
    mrr: float | None = None
    p_at_1: float | None = None
    """P@1 over the dev words, in percent."""
    ranks: tuple[int, ...] = ()
    """Rank of the best gold translation of each dev word, in order."""
    epochs: tuple[float, ...] = ()
    """The dev MRR after each epoch, if the method reports it."""
    error: str | None = None

    def reciprocal_ranks(self) -> Tensor:
        """1 / rank of each dev word: (s,)."""
        import torch

        return 1 / torch.tensor(self.ranks, dtype=torch.float64)

    def to_json(self) -> dict[str, Any]:
        """The outcome in plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Outcome:
        """The inverse of `to_json`."""
        return cls(**{**found, "ranks": tuple(found["ranks"]), "epochs": tuple(found["epochs"])})


class Pruned(Exception):  # noqa: N818 (the term of Optuna)
    """Raised inside a fit to stop it early."""


def with_dev(inputs: Inputs) -> Inputs:
    """The inputs with the dev lexicon that compares the trials: the given one, or one held out from train."""
    from bilex.fitting.measurement import hold_out

    if inputs.dev is not None:
        return inputs
    train, dev = hold_out(inputs)
    return replace(inputs, train=train, dev=dev)


def run_trial(
    inputs: Inputs,
    task: Task,
    *,
    device: str | None = None,
    watcher: Callable[[str, float], None] | None = None,
) -> Outcome:
    """Fit with the settings of the task, and rank the translations of the dev words by CSLS.  inputs: of `with_dev`."""
    from bilex.fitting.fit import fit

    assert inputs.dev is not None
    started, epochs = time.perf_counter(), list[float]()

    def outcome(state: Literal["done", "stopped", "failed"], **more: Any) -> Outcome:
        seconds = time.perf_counter() - started
        return Outcome(
            number=task.number, settings=task.settings, state=state, seconds=seconds, epochs=tuple(epochs), **more
        )

    try:
        trace = Trace(_listener(task, epochs), watcher=watcher)
        alignment = fit(inputs_of(inputs, task), device=device, trace=trace)
        result = alignment.evaluate(inputs.dev, fold_case=inputs.fold_case)
    except Pruned:
        return outcome("stopped")
    except BilexError as error:
        return outcome("failed", error=str(error))
    except Exception as error:
        traceback.print_exc()
        return outcome("failed", error=error_with_type(error))
    ranks = tuple(result.ranks.values())
    return outcome("done", mrr=result.scores.mrr, p_at_1=result.scores.p_at_1, ranks=ranks)


def inputs_of(inputs: Inputs, task: Task) -> Inputs:
    """The inputs of a trial, which never trains on dev words.

    A method that can leave out its last fit, on train and dev, makes its choices on dev. Any other method holds out
    words of train for its choices.
    """
    method = update_settings(inputs.method, task.settings, what=f"method {inputs.method.name}").without_refit()
    chooses = method.uses_dev and not method.learns_dev
    return replace(inputs, method=method, dev=inputs.dev if chooses else None)


def _listener(task: Task, epochs: list[float]) -> Callable[[Record], None]:
    """Appends the dev MRR of each epoch to `epochs`, and stops the fit below the pruning thresholds."""

    def listen(record: Record) -> None:
        if not ("epoch" in record and isinstance(dev := record.get("dev"), float)):
            return
        epochs.append(dev)
        epoch = len(epochs) - 1
        thresholds = task.pruning_thresholds
        if thresholds and epoch >= UNPRUNED_EPOCHS and max(epochs) < thresholds[min(epoch, len(thresholds) - 1)]:
            raise Pruned

    return listen
