"""The search: what may still be tried, and whether anything is better than the defaults."""

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
"""Does some tasks, here or elsewhere, and gives their outcomes in the same order."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much may be tried in all, what was done before an interruption included."""

    minutes: float | None = None
    trials: int | None = None

    def __post_init__(self) -> None:
        if self.minutes is None and self.trials is None:
            raise SettingsError("a search needs an end: give minutes, or a number of trials")

    def left(self, outcomes: Sequence[Outcome], batch: int = 1) -> int:
        """How many trials may begin now, at most a batch, which runs at the same time; the defaults come first, alone.

        None begins that would not end in time if it took as long as the others did on average.
        """
        if not outcomes:
            return 1
        if self.minutes is not None:
            usual = statistics.mean(outcome.seconds for outcome in outcomes if outcome.state == "done")
            if _seconds(outcomes, batch) + usual > 60 * self.minutes:
                return 0
        return batch if self.trials is None else max(0, min(batch, self.trials - len(outcomes)))


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The defaults, and the trial with the highest dev MRR."""

    default: Outcome
    best: Outcome
    gain: float
    """In dev MRR."""
    standard_error: float
    """Of the gain, which is a mean over dev words."""

    @property
    def defaults_stand(self) -> bool:
        """Whether the gain is no more than chance would make it, for the best of many trials."""
        return self.gain <= 2 * self.standard_error

    @property
    def chosen(self) -> Outcome:
        """What to align with."""
        return self.default if self.defaults_stand else self.best


def search(
    study: Study,
    budget: Budget,
    evaluate_many: EvaluateMany,
    *,
    batch: int = 1,
    listener: Callable[[Outcome], None] = lambda _: None,
) -> Verdict:
    """Try what the study suggests, a batch at a time, until the budget or the space is used up.

    A batch is told when all of it is done: after an interruption the next suggestions are the same again.
    """
    while tasks := study.ask(budget.left(study.outcomes, batch)):
        for outcome in list(evaluate_many(tasks)):
            if outcome.number == 0 and outcome.state == "failed":
                raise AlignmentError(f"nothing to compare with, the defaults fail: {outcome.error}")
            study.tell(outcome)
            listener(outcome)
    return judge(study.outcomes)


def one_after_another(
    inputs: Inputs, *, device: str | None = None, watcher: Callable[[str, float], None] | None = None
) -> EvaluateMany:
    """Does the tasks in this process.  inputs: of `trial.with_dev`."""

    def evaluate_many(tasks: Sequence[Task]) -> Iterator[Outcome]:
        for task in tasks:
            told = watcher and (lambda label, *share, task=task: watcher(f"trial {task.number}: {label}", *share))
            yield run_trial(inputs, task, device=device, watcher=told)

    return evaluate_many


def _seconds(outcomes: Sequence[Outcome], batch: int) -> float:
    """How long it took: the defaults alone, then batches, each as long as the longest trial in it."""
    first, *others = (outcome.seconds for outcome in outcomes)
    return first + sum(max(others[i : i + batch]) for i in range(0, len(others), batch))


def judge(outcomes: Sequence[Outcome]) -> Verdict:
    """Compare the best trial with the defaults, word by word."""
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    default, best = outcomes[0], max(done, key=lambda outcome: outcome.mrr or 0.0)
    gains = best.reciprocal_ranks() - default.reciprocal_ranks()
    return Verdict(default=default, best=best, gain=float(gains.mean()), standard_error=standard_error(gains))
