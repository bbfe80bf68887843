"""The trials of a search and what to try next: Optuna's study, kept in a file that survives a power cut.

The file is Optuna's journal: lines of JSON, added at the end, which works on network disks too, where SQLite's locks do
not. A line that was cut off is taken away when it is opened again. Only what was told is known then: what was being
tried is suggested once more, and because each suggestion has random numbers of its own, it is the same.
"""

from __future__ import annotations

import hashlib
import os
import statistics
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from bilex.errors import AlignmentError
from bilex.run.provenance import INPUTS, begin, check_same, read
from bilex.storage.disk import with_file_name
from bilex.storage.lock import LOCK_FILE, exclusive_lock
from bilex.storage.strict_json import replace_nonfinite
from bilex.tune.space import import_optuna
from bilex.tune.trial import Outcome, Task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.fitting.inputs import Inputs
    from bilex.tune.space import Space

JOURNAL = "study.journal"
Kind = Literal["tpe", "random"]
STARTUP = 8
"""Trials before TPE (a model of which settings are good) takes over from random ones."""
PRUNING_AFTER = 5
"""Trials that there must be before one can be ended early."""


@contextmanager
def opened(folder: Path, inputs: Inputs, space: Space, *, kind: Kind) -> Iterator[Study]:
    """The study in a folder: a new one, or that of an earlier search if it was made of the same inputs.

    If no trial has ended in it, there is nothing to go on from, and the folder is removed.
    """
    description = {**inputs.describe(), "search": kind, "space": space.describe()}
    if folder.exists() and not (folder / INPUTS).is_file() and not (folder / LOCK_FILE).exists():
        raise AlignmentError(f"{folder}: this is no search folder (it has no {INPUTS}); choose another folder")
    with exclusive_lock(folder / LOCK_FILE):
        if not (folder / INPUTS).is_file():
            begin(folder, description)
        check_same(description, read(folder / INPUTS, again="search"), folder)
        study = Study(folder / JOURNAL, space, kind=kind, rng_seed=inputs.rng_seed)
        try:
            yield study
        finally:
            if not study.outcomes:
                _remove(folder)


class Study:
    """Ask for tasks, tell outcomes; `random` draws all, `tpe` learns from them and prunes poor ones."""

    def __init__(self, file: Path, space: Space, *, kind: Kind, rng_seed: int) -> None:
        self.space, self.kind, self.rng_seed, self._file = space, kind, rng_seed, file
        self._optuna = import_optuna()
        self._asked: dict[int, Any] = {}
        self.outcomes: list[Outcome] = []
        try:
            with with_file_name(file):
                self._study = self._open()
        except OSError:  # a disk that cannot be written to is no damage
            raise
        except Exception as error:  # damage makes Optuna raise all sorts
            reason = str(error) or type(error).__name__
            raise AlignmentError(f"{file}: cannot be read: {reason}; remove {file.parent} and search again") from error

    @property
    def optuna_study(self) -> Any:
        """For what Optuna knows to make of one."""
        return self._study

    def ask(self, count: int) -> list[Task]:
        """So many combinations that have not been tried; fewer, where there are no more. The first are the defaults."""
        tasks = list[Task]()
        while len(tasks) < count and len(self.outcomes) + len(tasks) < self.space.size:
            number = len(self.outcomes) + len(tasks)
            known = [outcome.settings for outcome in self.outcomes] + [task.settings for task in tasks]
            with with_file_name(self._file):
                settings, self._asked[number] = self._suggest(number, known)
            tasks.append(Task(number=number, settings=settings, pruning_thresholds=self._pruning_thresholds()))
        return tasks

    def tell(self, outcome: Outcome) -> None:
        """Keep what came of a task."""
        trial, states = self._asked.pop(outcome.number), self._optuna.trial.TrialState
        try:
            with with_file_name(self._file):
                trial.set_user_attr("outcome", replace_nonfinite(outcome.to_json()))
                for epoch, mrr in enumerate(outcome.epochs):
                    trial.report(mrr, epoch)
                self._study.tell(trial, outcome.mrr, state=_state(outcome, states))
        except self._optuna.exceptions.UpdateFinishedTrialError as error:
            raise AlignmentError(
                f"{self._file} was changed by another search while this one was at work; let one at a time use it"
            ) from error
        self.outcomes.append(outcome)

    def _open(self) -> Any:
        _cut_torn_line(self._file)
        journal = self._optuna.storages.journal
        backend = journal.JournalFileBackend(str(self._file), journal.JournalFileOpenLock(str(self._file)))
        study = self._optuna.create_study(
            storage=self._optuna.storages.JournalStorage(backend),
            study_name="bilex",
            direction="maximize",
            load_if_exists=True,
        )
        states = self._optuna.trial.TrialState
        for trial in study.get_trials():
            if trial.state == states.RUNNING:
                study.tell(trial.number, state=states.FAIL)
            elif "outcome" in trial.user_attrs:
                outcome = Outcome.from_json(trial.user_attrs["outcome"])
                if trial.state == _state(outcome, states):
                    self.outcomes.append(outcome)
        return study

    def _suggest(self, number: int, known: list[dict[str, str]]) -> tuple[dict[str, str], Any]:
        """Settings that are not among the known ones, and their trial."""
        if number == 0 and not self._study.get_trials(states=(self._optuna.trial.TrialState.WAITING,)):
            self._study.enqueue_trial(self.space.defaults())
        attempt = 0
        while True:
            self._study.sampler = self._sampler(number, attempt)
            trial = self._study.ask(self.space.distributions())
            settings = self.space.texts(trial.params)
            if settings not in known:
                return settings, trial
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            attempt += 1

    def _sampler(self, number: int, attempt: int) -> Any:
        """With random numbers of its own; one that has suggested what is known is not asked again."""
        digest = hashlib.sha256(f"{self.rng_seed} {number} {attempt}".encode()).digest()
        own_seed = int.from_bytes(digest[:4], "big")
        if self.kind == "random" or attempt:
            return self._optuna.samplers.RandomSampler(seed=own_seed)
        return self._optuna.samplers.TPESampler(seed=own_seed, n_startup_trials=STARTUP)

    def _pruning_thresholds(self) -> tuple[float, ...]:
        """For each epoch the median of the best dev MRR up to it, over the trials that came so far or were done before.

        Pruned trials count too: else the thresholds would rise with each of them, and soon all trials would fail.
        """
        told = [outcome for outcome in self.outcomes if outcome.epochs and outcome.state != "failed"]
        if self.kind == "random" or len(told) < PRUNING_AFTER:
            return ()
        pruning_thresholds = list[float]()
        for epoch in range(max(len(outcome.epochs) for outcome in told)):
            there = [one.epochs for one in told if one.state == "done" or len(one.epochs) > epoch]
            pruning_thresholds.append(statistics.median(max(epochs[: epoch + 1]) for epochs in there))
        return tuple(pruning_thresholds)


def _state(outcome: Outcome, states: Any) -> Any:
    return {"done": states.COMPLETE, "stopped": states.PRUNED, "failed": states.FAIL}[outcome.state]


def _remove(folder: Path) -> None:
    """The beginnings of a search, and nothing that others have put there."""
    for name in (JOURNAL, INPUTS, LOCK_FILE):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _cut_torn_line(file: Path) -> None:
    """Optuna adds its next line to one that has no end, and can read neither."""
    if not file.exists():
        return
    contents = file.read_bytes()
    whole = contents.rfind(b"\n") + 1
    if whole < len(contents):
        os.truncate(file, whole)
