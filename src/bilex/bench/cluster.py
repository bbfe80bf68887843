"""Cells on a cluster: a node runs a cell like the local machine does, and the driver writes the results."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from bilex.bench.task import Task
from bilex.errors import ClusterError
from bilex.parallel.cluster import Work, connected

if TYPE_CHECKING:
    from collections.abc import Generator

    from bilex.bench.results import Cell


def run_on_cluster(tasks: list[Task], address: str, *, jobs: int) -> Generator[tuple[Task, Cell]]:
    """The results, in order of completion. `local` starts Ray on this machine, with room for `jobs` cells."""
    with (
        connected(address, cpus=jobs * tasks[0].threads) as cluster,
        closing(cluster.run(run_on_node, [_work(task) for task in tasks])) as results,
    ):
        for number, found in results:
            task = tasks[number]
            yield task, task.result("error", str(found)) if isinstance(found, ClusterError) else found


def run_on_node(text: str, paths: dict[str, Path]) -> Cell:
    """Run a cell on a node of the cluster.  paths: of its files on the node, by hash."""
    from bilex.bench.process import run_process

    task = Task.from_json(text)
    local_task = task.with_files({side: paths[ready.sha256] for side, ready in task.files().items()})
    with tempfile.TemporaryDirectory(prefix="bilex-") as folder:
        return run_process(local_task, Path(folder) / task.name)


def _work(task: Task) -> Work:
    files = {ready.sha256: ready.path for ready in task.files().values()}
    return Work(text=task.to_json(), files=files, threads=task.threads, device=task.device)
