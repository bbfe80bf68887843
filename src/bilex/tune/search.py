"""The search: its budget, its loop, and the comparison of the best trial with the defaults."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bilex.errors import AlignmentError, SettingsError
from bilex.evaluation.criterion import standard_error
from bilex.tune.trial import Outcome, Task, run_trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.fitting.inputs import Inputs
    from bilex.tune.study import Study

EvaluateMany = Callable[[Sequence[Task]], Iterable[Outcome]]
"""Runs some tasks, here or elsewhere, and returns their outcomes in the same order."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of the whole search, including the part before an interruption."""

    minutes: float | None = None
    trials: int | None = None

    def __post_init__(self) -> None:
        if self.minutes is None and self.trials is None:
            raise SettingsError("a search needs a limit; set minutes, or a number of trials")

    def left(self, outcomes: Sequence[Outcome], batch: int = 1) -> int:
        """How many trials may start now: at most a batch, whose trials run in parallel. The defaults run first, alone.

        No trial starts that would exceed the time if it took as long as the average trial.
        """
        if not outcomes:
            return 1
        if self.minutes is not None:
            mean_seconds = statistics.mean(outcome.seconds for outcome in outcomes if outcome.state == "done")
            if _seconds(outcomes, batch) + mean_seconds > 60 * self.minutes:
                return 0
        return batch if self.trials is None else max(0, min(batch, self.trials - len(outcomes)))


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The defaults, and the trial with the highest dev MRR."""

    default: Outcome
    best: Outcome
    gain: float
    """Difference of their dev MRR."""
    standard_error: float
    """Standard error of the gain, which is a mean over dev words."""

    @property
    def defaults_stand(self) -> bool:
        """Whether the gain may be due to chance, as the best of many trials always has one."""
        return self.gain <= 2 * self.standard_error

    @property
    def chosen(self) -> Outcome:
        """The trial whose settings are chosen."""
        return self.default if self.defaults_stand else self.best


def search(
    study: Study,
    budget: Budget,
    evaluate_many: EvaluateMany,
    *,
    batch: int = 1,
    listener: Callable[[Outcome], None] = lambda _: None,
) -> Verdict:
    """Run the trials that the study suggests, a batch at a time, until the budget or the space is used up.

    A batch is recorded when all its trials are done, so that after an interruption the same ones are suggested.
    """
    while tasks := study.ask(budget.left(study.outcomes, batch)):
        for outcome in list(evaluate_many(tasks)):
            if outcome.number == 0 and outcome.state == "failed":
                raise AlignmentError(
                    f"the trial of the default settings failed, so there is nothing to compare with: {outcome.error}"
                )
            study.tell(outcome)
            listener(outcome)
    return judge(study.outcomes)


def one_after_another(
    inputs: Inputs, *, device: str | None = None, watcher: Callable[[str, float], None] | None = None
) -> EvaluateMany:
    """Runs the tasks in this process, one by one.  inputs: of `trial.with_dev`."""

    def evaluate_many(tasks: Sequence[Task]) -> Iterator[Outcome]:
        for task in tasks:
            task_watcher = watcher and (
                lambda label, *share, task=task: watcher(f"trial {task.number}: {label}", *share)
            )
            yield run_trial(inputs, task, device=device, watcher=task_watcher)

    return evaluate_many


def _seconds(outcomes: Sequence[Outcome], batch: int) -> float:
    """Seconds so far: the trial of the defaults, then for each batch those of its longest trial."""
    first, *others = (outcome.seconds for outcome in outcomes)
    return first + sum(max(others[i : i + batch]) for i in range(0, len(others), batch))


def judge(outcomes: Sequence[Outcome]) -> Verdict:
    """Compare the best trial with the defaults, word by word."""
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    default, best = outcomes[0], max(done, key=lambda outcome: outcome.mrr or 0.0)
    gains = best.reciprocal_ranks() - default.reciprocal_ranks()
    return Verdict(default=default, best=best, gain=float(gains.mean()), standard_error=standard_error(gains))
