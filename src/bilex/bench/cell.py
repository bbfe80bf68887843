"""The process of one cell: `python -m bilex.bench.cell FOLDER`, with its task as a line of JSON on standard input.

A process per cell makes the peak memory that of the cell alone, and if one is killed, the others continue. It writes
FOLDER/result.json, and its checkpoints to FOLDER.
"""

from __future__ import annotations

import hashlib
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.bench.inputs import some_pairs
from bilex.bench.results import write_cell
from bilex.bench.task import Task
from bilex.errors import AlignmentError, BilexError, SuiteError, error_with_type
from bilex.lexicon import Lexicon
from bilex.parallel.process import receive
from bilex.storage.files import sha256
from bilex.table import EmbeddingTable
from bilex.training.checkpoint import CHECKPOINT, Checkpoint
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from bilex.alignment import Alignment
    from bilex.bench.inputs import Ready
    from bilex.bench.results import Cell

RESULT = "result.json"


def main() -> None:
    """Run the cell that standard input describes."""
    line, folder = receive()
    write_cell(folder / RESULT, run_task(Task.from_json(line), folder))


def run_task(task: Task, folder: Path) -> Cell:
    """Align and evaluate. An error becomes a result too. Checkpoints are saved in `folder`.

    A checkpoint that the cell continued from is deleted after an error, so that its next run starts again.
    """
    trace, checkpoint, saved = Trace(), Checkpoint(folder), folder / CHECKPOINT
    resumed = saved.exists()
    try:
        found = _measure(task, trace, checkpoint, resumed=resumed)
    except AlignmentError as error:
        return task.result("failed", str(error), trace=tuple(trace.records), peak_gigabytes=peak_gigabytes())
    except Exception as error:
        if resumed:
            saved.unlink(missing_ok=True)
        if isinstance(error, BilexError):
            return task.result("error", str(error))
        traceback.print_exc()
        return task.result("error", error_with_type(error), peak_gigabytes=peak_gigabytes())
    return task.result("done", None, trace=tuple(trace.records), peak_gigabytes=peak_gigabytes(), **found)


def _measure(task: Task, trace: Trace, checkpoint: Checkpoint, *, resumed: bool) -> dict[str, Any]:
    import torch

    from bilex.fitting.fit import align

    torch.set_num_threads(task.threads)
    source, target = _table(task.source), _table(task.target)
    test, train = _lexicon(task.test), None if task.train is None else _lexicon(task.train)
    if train is not None and task.pairs is not None:
        train = some_pairs(train, source, target, task.pairs, task.rng_seed)
    started = time.perf_counter()
    alignment = align(
        source,
        target,
        train,
        dev=test if task.protocol == "paper" else None,
        method=_method(task),
        rng_seed=task.rng_seed,
        device=task.device,
        trace=trace,
        checkpoint=checkpoint,
        measured=False,
        vectors_only=True,  # systems are compared by their vectors
    )
    fitted = time.perf_counter()
    result = alignment.evaluate(test)
    return {
        "scores": result.to_json(),
        "ranks": tuple(result.ranks.values()),
        "rows": tuple(source.index[word] for word in result.ranks),
        "words_sha256": hashlib.sha256("\n".join(result.ranks).encode()).hexdigest(),
        "seconds": None if resumed else fitted - started,
        "seconds_evaluation": time.perf_counter() - fitted,
        "provenance": _provenance(alignment, task),
    }


def _method(task: Task) -> Any:
    from bilex.bench.suite import System

    names = ("method", "settings", "protocol", "pairs")
    own: dict[str, Any] = {name: getattr(task, name) for name in names}
    return System(label=task.system, directions=(task.direction,), **own).make()


def _table(file: Ready) -> EmbeddingTable:
    _check_same(file)
    return EmbeddingTable.read(file.path, max_words=file.max_words)


def _lexicon(file: Ready) -> Lexicon:
    _check_same(file)
    return Lexicon.read(file.path, comment=file.comment)


def _check_same(file: Ready) -> None:
    """Refuse a file that changed since the run began: the key of the result is the hash of the old contents."""
    if sha256(file.path) != file.sha256:
        raise SuiteError(f"{file.label}: the file has changed since the run began; run the suite again")


def _provenance(alignment: Alignment, task: Task) -> dict[str, Any]:
    """The provenance for a result that can be shared: files by their labels, and without dictionary words."""
    found, labels = dict(alignment.provenance), {side: file.label for side, file in task.files().items()}
    labels["dev"] = task.test.label if task.protocol == "paper" else "part of train"
    found["inputs"] = dict(found["inputs"])
    for side in ("source", "target", "train", "dev"):
        if (file := found["inputs"][side]) is not None and file["file"] is not None:
            found["inputs"][side] = {**file, "file": labels[side]}
    for side in ("train", "dev"):
        if (coverage := found[f"{side}_coverage"]) is not None:
            found[f"{side}_coverage"] = {**_without_words(coverage), "name": labels.get(side)}
    return found


def _without_words(coverage: dict[str, Any]) -> dict[str, Any]:
    return {key: {"pairs": value["pairs"]} if key.startswith("missing") else value for key, value in coverage.items()}


def peak_gigabytes() -> float | None:
    """Peak memory of this process; None where the system does not report it."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would include the memory of the parent
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(lines["VmHWM"].split()[0]) * 1024 / 1e9 if "VmHWM" in lines else None
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e9


if __name__ == "__main__":
    main()
