"""Work on many machines: each piece is a Ray task, which does there what a process of its own would do here.

Tables lie on each machine's disk and are mapped into memory by its processes, as they are locally. A machine that
cannot see the driver's files gets each of them once, through Ray's object store, and keeps it in its data folder: a
process of its own cannot map what lies in the object store.
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
"""So often work is begun again whose machine was lost."""
_BASE, _FACTOR = 1e9, 10
"""A piece of work is expected to need so many bytes, and so many times those of its files."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A piece of work: what it is, as text, the files it reads, by their hashes, and what it needs."""

    text: str
    files: dict[str, Path]
    threads: int
    device: str


@contextmanager
def connected(address: str, *, cpus: int | None = None) -> Iterator[Cluster]:
    """The cluster at an address. `local` starts Ray on this machine, with so many CPUs or all."""
    ray = import_ray()
    with redirect_stdout(sys.stderr):  # Ray tells there of machines that it has lost
        _connect(ray, address, cpus=cpus)
        try:
            yield Cluster(ray)
        finally:
            ray.shutdown()


class Cluster:
    """Machines that work is handed to."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._sent: dict[str, Any] = {}

    def room(self, threads: int) -> int:
        """How many pieces of work with so many threads find a CPU for each of them."""
        return sum(int(resources.get("CPU", 0) // threads) for resources in self._machines())

    def run(
        self, function: Callable[[str, dict[str, Path]], Result], work: Sequence[Work]
    ) -> Generator[tuple[int, Result | ClusterError]]:
        """Call `function` with the text of each piece and with paths by hash, on any machine.

        The results as they come, with the number of the piece; an error for one that the cluster has lost for good.
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
            return ClusterError(f"it failed where it was run: {error_with_type(error.cause)}")
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().split("\n")[-1]
            return ClusterError(f"the cluster lost it {1 + RETRIES} times, or could not begin it: {reason}")

    def _send(self, files: dict[str, Path]) -> dict[str, tuple[Path, Any]]:
        """Files in the object store, each put there once."""
        for key, path in files.items():
            if key not in self._sent:
                self._sent[key] = self._ray.put(path.read_bytes())
        return {key: (path, self._sent[key]) for key, path in files.items()}

    def _largest(self, threads: int) -> float:
        """Memory of the largest machine that has room for the threads."""
        fit = [resources for resources in self._machines() if resources.get("CPU", 0) >= threads]
        if not fit:
            most = max((resources.get("CPU", 0) for resources in self._machines()), default=0)
            raise ClusterError(
                f"no machine has more than {most:g} CPUs, and {threads} were asked for: use fewer `threads`"
            )
        return max(float(resources.get("memory", 0)) for resources in fit)

    def _machines(self) -> list[dict[str, float]]:
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]


def import_ray() -> Any:
    """The package, or a message that names the extra."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "cluster", "`cluster`") from None
    return ray


def _connect(ray: Any, address: str, *, cpus: int | None) -> None:
    own = {"include_dashboard": False, "num_cpus": cpus} if address == "local" else {}
    try:
        host, colon, port = address.removeprefix("ray://").rpartition(":")
        if colon:  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), timeout=20).close()
        with _handler_kept():
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (ValueError, RuntimeError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise ClusterError(
            f"there is no Ray cluster at {address!r} ({reason}); start one with `ray start --head`, or use local"
        ) from None


@contextmanager
def _handler_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself, and would give it an exit code of its own."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _needs(work: Work, largest: float) -> dict[str, Any]:
    """What it asks of a machine. The memory is an estimate: if no machine has so much, the largest may try."""
    bytes_read = sum(path.stat().st_size for path in work.files.values())
    gpus = {"num_gpus": 1} if work.device.startswith("cuda") else {}
    memory = int(min(_BASE + _FACTOR * bytes_read, largest))
    return {"num_cpus": work.threads, "memory": memory, "max_retries": RETRIES, **gpus}


def _run_on_node(function: Callable[[str, dict[str, Path]], Result], text: str, files: dict[str, Any]) -> Result:
    return function(text, {key: _there(key, *sent) for key, sent in files.items()})


def _there(key: str, path: Path, reference: Any) -> Path:
    """The file on this machine: the driver's own where it can be seen, else a copy, made once."""
    if path.is_file() and sha256(path) == key:
        return path
    copy = data_folder() / "tables" / f"{key}{path.suffix}"
    if not copy.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(copy) as temporary:
            temporary.write_bytes(import_ray().get(reference))
    return copy
