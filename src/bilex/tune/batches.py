"""Run a batch of trials: one by one in this process, in parallel on this machine, or on a cluster."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch

from bilex.errors import ClusterError
from bilex.parallel.cluster import Work, connected
from bilex.parallel.process import side_by_side
from bilex.storage.disk import require_disk_space
from bilex.tune.input_files import Packed
from bilex.tune.search import one_after_another
from bilex.tune.trial_process import TrialProcess, run_on_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bilex.fitting.inputs import Inputs
    from bilex.parallel.cluster import Cluster
    from bilex.parallel.process import Live
    from bilex.tune.search import EvaluateMany
    from bilex.tune.trial import Outcome, Task

PARTIAL = "partial"
"""Folder of the files of the processes; it is deleted when the search ends."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where trials run, and how many at a time."""

    jobs: int | None = None
    """By default one; on a cluster as many as it has room for."""
    threads: int | None = None
    """Threads of each trial; by default those of this process divided by `jobs`, on a cluster one."""
    cluster: str | None = None
    """Address of a Ray cluster, or `local`."""
    device: str | None = None

    @contextmanager
    def ready(
        self,
        inputs: Inputs,
        given: Mapping[str, str],
        folder: Path,
        *,
        watcher: Callable[[str, float], None] | None = None,
    ) -> Iterator[Batches]:
        """The function that runs the trials.  inputs: of `trial.with_dev`; given: the fixed settings of their method.

        The files of other processes are in `folder` during the search.
        """
        jobs, threads = self.jobs or 1, self.threads or 1
        with ExitStack() as stack:
            if self.cluster is not None:
                cpus = None if self.jobs is None else jobs * threads
                cluster = stack.enter_context(connected(self.cluster, cpus=cpus))
                packed = stack.enter_context(_packed(inputs, given, folder))
                yield Batches(self._on(cluster, packed, threads), self.jobs or max(1, cluster.room(threads)))
            elif jobs > 1:
                packed = stack.enter_context(_packed(inputs, given, folder))
                threads = self.threads or max(1, torch.get_num_threads() // jobs)
                yield Batches(self._side_by_side(packed, folder / PARTIAL, jobs, threads), jobs)
            else:
                stack.enter_context(_threads(self.threads))
                yield Batches(one_after_another(inputs, device=self.device, watcher=watcher), 1)

    def _side_by_side(self, packed: Packed, folder: Path, jobs: int, threads: int) -> EvaluateMany:
        def run(trial: TrialProcess, live: Live) -> Outcome:
            return trial.run(folder / f"trial-{trial.task.number}", live)

        def evaluate_many(tasks: Sequence[Task]) -> list[Outcome]:
            found = dict(side_by_side(run, self._trials(packed, tasks, threads), jobs=jobs))
            return [found[number] for number in range(len(tasks))]

        return evaluate_many

    def _on(self, cluster: Cluster, packed: Packed, threads: int) -> EvaluateMany:
        def work(trial: TrialProcess) -> Work:
            return Work(text=trial.to_json(), files=packed.by_hash(), threads=threads, device=self.device or "auto")

        def evaluate_many(tasks: Sequence[Task]) -> Iterator[Outcome]:
            trials, started = self._trials(packed, tasks, threads), time.perf_counter()
            found = dict(cluster.run(run_on_node, [work(trial) for trial in trials]))
            seconds = time.perf_counter() - started
            for number, trial in enumerate(trials):
                outcome = found[number]
                yield trial.failure(str(outcome), seconds) if isinstance(outcome, ClusterError) else outcome

        return evaluate_many

    def _trials(self, packed: Packed, tasks: Sequence[Task], threads: int) -> list[TrialProcess]:
        return [TrialProcess(task=task, packed=packed, threads=threads, device=self.device) for task in tasks]


class Batches(NamedTuple):
    """A function that runs a batch of trials, and the size of a batch."""

    evaluate_many: EvaluateMany
    size: int


@contextmanager
def _packed(inputs: Inputs, given: Mapping[str, str], folder: Path) -> Iterator[Packed]:
    place = folder / PARTIAL
    shutil.rmtree(place, ignore_errors=True)  # files of a search that was killed
    require_disk_space(folder, inputs.least_bytes, "a copy of the tables, for parallel trials,")
    try:
        yield Packed.write(inputs, given, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _threads(number: int | None) -> Iterator[None]:
    """Set the number of threads of this process, if one is given, and restore it afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
