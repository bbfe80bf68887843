"""Work on a cluster: each item is a Ray task, which starts a process on a node as a local run does.

Processes map tables from the disk of their node into memory. A node that cannot read the files of the driver gets each
of them once, through the object store of Ray, and caches it in its data folder: a separate process cannot map an object
of the store.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bilex.data.folder import data_folder
from bilex.errors import ClusterError, MissingExtraError, error_with_type
from bilex.storage.files import atomic_write, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

Result = TypeVar("Result")
RETRIES = 3
"""Number of times that work is started again after its node was lost."""
_BASE_MEMORY, _MEMORY_PER_BYTE = 1e9, 10
"""Memory estimate of a work item in bytes: a constant, plus this multiple of the size of its files."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A work item: its task as text, the files that it reads by hash, its threads and device."""

    text: str
    files: dict[str, Path]
    threads: int
    device: str


@contextmanager
def connected(address: str, *, cpus: int | None = None) -> Iterator[Cluster]:
    """The cluster at an address. `local` starts Ray on this machine, with `cpus` CPUs or all."""
    ray = import_ray()
    with redirect_stdout(sys.stderr):  # Ray reports lost nodes on stdout
        _connect(ray, address, cpus=cpus)
        try:
            yield Cluster(ray)
        finally:
            ray.shutdown()


class Cluster:
    """A Ray cluster that runs work items."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._sent: dict[str, Any] = {}

    def room(self, threads: int) -> int:
        """How many work items with this number of threads can run at the same time."""
        return sum(int(resources.get("CPU", 0) // threads) for resources in self._nodes())

    def run(
        self, function: Callable[[str, dict[str, Path]], Result], work: Sequence[Work]
    ) -> Generator[tuple[int, Result | ClusterError]]:
        """Call `function` on any node, with the text of each work item and its paths by hash.

        Yields the number and the result of each item, in order of completion; a ClusterError if it could not be run.
        """
        remote, largest = self._ray.remote(_run_on_node), self._largest(max(one.threads for one in work))
        pending = {
            remote.options(**_needs(one, largest)).remote(function, one.text, self._send(one.files)): number
            for number, one in enumerate(work)
        }
        while pending:
            (ready, *_), _ = self._ray.wait(list(pending), num_returns=1)
            yield pending.pop(ready), self._result(ready)

    def _result(self, ready: Any) -> Any:
        try:
            return self._ray.get(ready)
        except self._ray.exceptions.RayTaskError as error:
            return ClusterError(f"it failed on the cluster: {error_with_type(error.cause)}")
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().split("\n")[-1]
            return ClusterError(f"the cluster lost it {1 + RETRIES} times, or could not start it: {reason}")

    def _send(self, files: dict[str, Path]) -> dict[str, tuple[Path, Any]]:
        """Put the files into the object store, each one once."""
        for key, path in files.items():
            if key not in self._sent:
                self._sent[key] = self._ray.put(path.read_bytes())
        return {key: (path, self._sent[key]) for key, path in files.items()}

    def _largest(self, threads: int) -> float:
        """Memory of the largest node with enough CPUs for the threads."""
        fit = [resources for resources in self._nodes() if resources.get("CPU", 0) >= threads]
        if not fit:
            most = max((resources.get("CPU", 0) for resources in self._nodes()), default=0)
            raise ClusterError(
                f"no machine has more than {most:g} CPUs, but {threads} threads are needed; use fewer `threads`"
            )
        return max(float(resources.get("memory", 0)) for resources in fit)

    def _nodes(self) -> list[dict[str, float]]:
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]


def import_ray() -> Any:
    """The module, or an error that names the extra to install."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "cluster", "`cluster`") from None
    return ray


def _connect(ray: Any, address: str, *, cpus: int | None) -> None:
    own = {"include_dashboard": False, "num_cpus": cpus} if address == "local" else {}
    try:
        host, colon, port = address.removeprefix("ray://").rpartition(":")
        if colon:  # fail early; Ray would retry for minutes
            socket.create_connection((host, int(port)), timeout=20).close()
        with _restored_signal_handler():
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (ValueError, RuntimeError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise ClusterError(
            f"there is no Ray cluster at {address!r} ({reason}); start one with `ray start --head`, or use local"
        ) from None


@contextmanager
def _restored_signal_handler() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces by one with another exit code."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _needs(work: Work, largest: float) -> dict[str, Any]:
    """Resources of a work item. The memory is an estimate, so it is limited to that of the largest node."""
    bytes_read = sum(path.stat().st_size for path in work.files.values())
    gpus = {"num_gpus": 1} if work.device.startswith("cuda") else {}
    memory = int(min(_BASE_MEMORY + _MEMORY_PER_BYTE * bytes_read, largest))
    return {"num_cpus": work.threads, "memory": memory, "max_retries": RETRIES, **gpus}


def _run_on_node(function: Callable[[str, dict[str, Path]], Result], text: str, files: dict[str, Any]) -> Result:
    return function(text, {key: _local_file(key, *sent) for key, sent in files.items()})


def _local_file(key: str, path: Path, reference: Any) -> Path:
    """The file on this node: that of the driver if it can be read, else a cached copy."""
    if path.is_file() and sha256(path) == key:
        return path
    copy = data_folder() / "tables" / f"{key}{path.suffix}"
    if not copy.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(copy) as temporary:
            temporary.write_bytes(import_ray().get(reference))
    return copy
