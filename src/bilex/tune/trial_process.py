"""One trial in its own process: `python -m bilex.tune.trial_process FOLDER`; see bilex.parallel.process.

If the process is killed, the search continues. It writes FOLDER/outcome.json.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.parallel.process import receive, run_module
from bilex.storage.files import atomic_write
from bilex.storage.strict_json import from_json, read_json, to_json
from bilex.tune.input_files import Packed
from bilex.tune.trial import Outcome, Task, run_trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bilex.parallel.process import Live

OUTCOME = "outcome.json"


@dataclass(frozen=True, kw_only=True)
class TrialProcess:
    """A trial as its process receives it."""

    task: Task
    packed: Packed
    threads: int
    device: str | None

    def run(self, folder: Path, live: Live | None = None) -> Outcome:
        """Run the process and wait for it. The trial has failed if the process writes no outcome."""
        folder.mkdir(parents=True)
        started = time.perf_counter()
        ending = run_module("bilex.tune.trial_process", self.to_json(), folder, threads=self.threads, live=live)
        try:
            return Outcome.from_json(read_json(folder / OUTCOME))
        except FileNotFoundError:
            return self.failure(ending, time.perf_counter() - started)

    def failure(self, error: str, seconds: float) -> Outcome:
        """The outcome of a trial whose process wrote none."""
        task = self.task
        return Outcome(number=task.number, settings=task.settings, state="failed", seconds=seconds, error=error)

    def elsewhere(self, paths: Mapping[str, Path]) -> TrialProcess:
        """The same trial with other paths of its files, by their hashes."""
        return replace(self, packed=self.packed.elsewhere(paths))

    def to_json(self) -> str:
        """The trial as one line of JSON."""
        return to_json(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> TrialProcess:
        """The inverse of `to_json`."""
        found: dict[str, Any] = from_json(text)
        task = Task(**{**found["task"], "pruning_thresholds": tuple(found["task"]["pruning_thresholds"])})
        return cls(**{**found, "task": task, "packed": Packed(**found["packed"])})


def run_on_node(text: str, paths: dict[str, Path]) -> Outcome:
    """Run a trial on a node of a cluster.  paths: of its files on the node, by hash."""
    with tempfile.TemporaryDirectory(prefix="bilex-") as folder:
        return TrialProcess.from_json(text).elsewhere(paths).run(Path(folder) / "trial")


def main() -> None:
    """Run the trial that standard input describes."""
    import torch

    line, folder = receive()
    trial = TrialProcess.from_json(line)
    torch.set_num_threads(trial.threads)
    outcome = run_trial(trial.packed.read(), trial.task, device=trial.device)
    with atomic_write(folder / OUTCOME) as temporary:
        temporary.write_text(to_json(outcome.to_json()), encoding="utf-8")


if __name__ == "__main__":
    main()
