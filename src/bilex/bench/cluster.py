"""Cells on many machines: each is a Ray task that does what the local run does, and the driver writes the results.

Tables lie on each machine's disk and are mapped into memory by its cells, as they are locally. A machine that cannot
see the driver's files gets each of them once, through Ray's object store, and keeps it in its data folder: a process
of its own, which a cell is, cannot map what lies in the object store.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.bench.task import Task
from bilex.data.folder import data_folder
from bilex.errors import MissingExtraError, SuiteError
from bilex.files import replacing, sha256

if TYPE_CHECKING:
    from collections.abc import Generator

    from bilex.bench.inputs import Ready
    from bilex.bench.results import Cell

RETRIES = 3
"""So often a cell is begun again whose machine was lost."""
_BASE, _FACTOR = 1e9, 10
"""A cell is expected to need so many bytes, and so many times those of its tables."""


def run_on_cluster(tasks: list[Task], address: str, *, jobs: int) -> Generator[tuple[Task, Cell]]:
    """The results as they come. `local` starts Ray on this machine, with room for `jobs` cells."""
    ray = import_ray()
    with redirect_stdout(sys.stderr):  # Ray tells there of machines that it has lost
        _connect(ray, address, cpus=jobs * tasks[0].threads)
        try:
            pending = _submit(ray, tasks)
            while pending:
                (ready, *_), _ = ray.wait(list(pending), num_returns=1)
                task = pending.pop(ready)
                yield task, _result(ray, ready, task)
        finally:
            ray.shutdown()


def _submit(ray: Any, tasks: list[Task]) -> dict[Any, Task]:
    """All cells handed to Ray, and the files they read to its object store, each once."""
    largest = _largest(ray, tasks[0].threads)
    shared = {ready.sha256: ready for task in tasks for ready in task.files().values()}
    files = {key: ray.put(ready.path.read_bytes()) for key, ready in shared.items()}
    remote, pending = ray.remote(run_on_node), {}
    for task in tasks:
        own = {ready.sha256: files[ready.sha256] for ready in task.files().values()}
        pending[remote.options(**_needs(task, largest)).remote(task.to_json(), own)] = task
    return pending


def run_on_node(text: str, files: dict[str, Any]) -> Cell:
    """What a machine does: see to the files, and run the cell as the local run does."""
    from bilex.bench.process import run_process

    task = Task.from_json(text)
    paths = {side: _there(ready, files[ready.sha256]) for side, ready in task.files().items()}
    with tempfile.TemporaryDirectory(prefix="bilex-") as folder:
        return run_process(task.with_files(paths), Path(folder) / task.name)


def import_ray() -> Any:
    """The package, or a message that names the extra."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "cluster", "--cluster") from None
    return ray


def _connect(ray: Any, address: str, *, cpus: int) -> None:
    own = {"include_dashboard": False, "num_cpus": cpus} if address == "local" else {}
    try:
        host, colon, port = address.removeprefix("ray://").rpartition(":")
        if colon:  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), timeout=20).close()
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (ValueError, RuntimeError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise SuiteError(
            f"there is no Ray cluster at {address!r} ({reason}); start one with `ray start --head`, or use local"
        ) from None


def _largest(ray: Any, threads: int) -> float:
    """Memory of the largest machine that has room for a cell's threads."""
    alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    fit = [resources for resources in alive if resources.get("CPU", 0) >= threads]
    if not fit:
        most = max((resources.get("CPU", 0) for resources in alive), default=0)
        raise SuiteError(f"a cell needs {threads} CPUs and no machine has more than {most:g}; use fewer --threads")
    return max(float(resources.get("memory", 0)) for resources in fit)


def _needs(task: Task, largest: float) -> dict[str, Any]:
    """What a cell asks of a machine. The memory is an estimate: if no machine has so much, the largest may try."""
    tables = sum(file.path.stat().st_size for file in (task.source, task.target))
    gpus = {"num_gpus": 1} if task.device.startswith("cuda") else {}
    memory = int(min(_BASE + _FACTOR * tables, largest))
    return {"num_cpus": task.threads, "memory": memory, "max_retries": RETRIES, **gpus}


def _result(ray: Any, ready: Any, task: Task) -> Cell:
    try:
        found: Cell = ray.get(ready)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().split("\n")[-1]
        return task.result("error", f"the cluster lost it {1 + RETRIES} times, or could not begin it: {reason}")
    return found


def _there(ready: Ready, reference: Any) -> Path:
    """The file on this machine: the driver's own where it can be seen, else a copy, made once."""
    if ready.path.is_file() and sha256(ready.path) == ready.sha256:
        return ready.path
    copy = data_folder() / "tables" / f"{ready.sha256}{ready.path.suffix}"
    if not copy.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with replacing(copy) as temporary:
            temporary.write_bytes(import_ray().get(reference))
    return copy
