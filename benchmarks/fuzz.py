"""Fuzzing: use damaged files as a user would, and look for tracebacks, hangs and numbers that are not finite.

    python benchmarks/fuzz.py [--rng-seed 0] [--inputs N | --seconds 600] [--jobs 2] [--target NAME ...]
        [--seconds-each 10] [--megabytes 256] [--folder build/fuzz]
    python benchmarks/fuzz.py --replay FILE

Valid small files are made once: run folders, checkpoints, decisions, tables and dictionaries of every format. An input
is a few of them, damaged by mutators that know the format (JSON, safetensors, .npz, SQLite, lines) or by generic ones.
bilex must refuse it with a BilexError and a printable message, or give finite numbers without a warning, within the
limits of time and memory. Anything else is a fault. Three inputs of each fault are saved in FOLDER/faults; --replay
runs one again and shows the traceback. The exit code is 1 if there was a fault.

Inputs depend only on the seed, their number and the targets. Linux only: memory is measured with /proc.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from bilex.parallel.process import thread_variables

os.environ |= thread_variables(1)  # before torch is imported: a process with threads cannot be forked

# Slow to import: no input should have to wait for them.
import gensim.models  # noqa: F401
import scipy.stats  # noqa: F401
import torch._dynamo  # noqa: F401

from fuzzing.corpus import Corpus, make_corpus
from fuzzing.inputs import Input
from fuzzing.targets import TARGETS
from fuzzing.workers import Limits, Outcome, Worker, answered, make_input, try_input, work

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES_PER_FAULT = 3
"""Inputs that are saved for each fault."""
ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Try many inputs, or replay one."""
    args = parse(arguments)
    limits = Limits(args.seconds_each, args.megabytes << 20)
    with corpus() as made:
        if args.replay:
            return replay(args.replay, made, limits)
        return fuzz(made, args, limits)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rng-seed", type=int, default=0)
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--target", action="append", choices=list(TARGETS))
    parser.add_argument("--seconds-each", type=float, default=Limits.seconds)
    parser.add_argument("--megabytes", type=int, default=Limits.memory >> 20)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--replay", type=Path)
    args = parser.parse_args(arguments)
    if args.inputs is None and args.seconds is None:
        args.seconds = 600.0
    return args


@contextmanager
def corpus() -> Iterator[Corpus]:
    """Valid files, in a memory file system if there is one. They are made in a subprocess, which leaves no threads."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="bilex-fuzz-", dir=memory if memory.is_dir() else None) as name:
        os.environ["BILEX_FUZZ"] = name
        process = get_context("fork").Process(target=make_corpus, args=(Path(name) / "corpus",))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit("the good files could not be made; why is said above")
        yield Corpus(Path(name) / "corpus")


def fuzz(made: Corpus, args: argparse.Namespace, limits: Limits) -> int:
    """Run the workers, collect their faults, and print the result."""
    started, names = time.monotonic(), args.target or list(TARGETS)
    faults = Faults(args.folder / "faults")

    def run(worker: Worker) -> None:
        work(worker, made, args.rng_seed, args.inputs, names, limits)

    workers = [Worker(job, args.jobs, run) for job in range(args.jobs)]
    try:
        while any(worker.process.is_alive() for worker in workers):
            time.sleep(0.1)
            for worker in workers:
                take(worker, made, args.rng_seed, names, limits, faults)
            if args.seconds is not None and time.monotonic() - started > args.seconds:
                break
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
    for worker in workers:
        faults.take(worker)
    print_counts(workers, time.monotonic() - started)
    return faults.print()


def take(worker: Worker, made: Corpus, rng_seed: int, names: list[str], limits: Limits, faults: Faults) -> None:
    """Collect the results of a worker. If its process has died, that is a fault, and a new process replaces it."""
    faults.take(worker)
    if (ending := worker.died(limits)) is not None:
        faults.take(worker)
        given = make_input(made, rng_seed, worker.next.value, names)
        faults.add(given, Outcome(fault=f"{given.target}: {ending}"))
        worker.counts[given.target][0] += 1
        worker.next.value += worker.jobs
        worker.begin()


class Faults:
    """The faults found, and their inputs for --replay."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts = Counter[str]()
        self._kept: dict[str, list[Path]] = {}
        self._details: dict[str, str] = {}

    def take(self, worker: Worker) -> None:
        """Add all results that a worker has sent."""
        while (found := answered(worker.received)) is not None:
            self.add(*found)

    def add(self, given: Input, outcome: Outcome) -> None:
        """Count a fault. Save its input if it is among the first of this fault."""
        assert outcome.fault is not None
        self._counts[outcome.fault] += 1
        kept = self._kept.setdefault(outcome.fault, [])
        self._details.setdefault(outcome.fault, outcome.details)
        if len(kept) < EXAMPLES_PER_FAULT:
            self._folder.mkdir(parents=True, exist_ok=True)
            known = sha256(outcome.fault.encode()).hexdigest()[:8]
            path = self._folder / f"{given.target}-{known}-{given.rng_seed}-{given.number}.json"
            given.save(path, f"{outcome.fault}\n{outcome.details}")
            kept.append(path)

    def print(self) -> int:
        """Print one line per fault, most frequent first, and return the exit code."""
        for fault, count in self._counts.most_common():
            last = self._details[fault].strip().split("\n")[-1][:160]
            print(f"FAULT {count:6,} x {fault}: {last}\n      --replay {self._kept[fault][0]}")
        print(f"{len(self._counts)} faults")
        return int(bool(self._counts))


def print_counts(workers: list[Worker], seconds: float) -> None:
    """Print for each target the number of inputs, the number refused, and the inputs per second and worker."""
    print(f"{'target':20}{'inputs':>10}{'refused':>10}{'a second':>10}")
    for name in TARGETS:
        tried = sum(worker.counts[name][0] for worker in workers)
        refused = sum(worker.counts[name][1] for worker in workers)
        spent = sum(worker.seconds[name].value for worker in workers)
        if tried:
            print(f"{name:20}{tried:10,}{refused / tried:10.0%}{tried / max(spent, 1e-9):10,.0f}")
    tried = sum(worker.counts[name][0] for worker in workers for name in TARGETS)
    print(f"{tried:,} inputs in {seconds:,.0f} s: {tried / seconds:,.0f} a second")


def replay(path: Path, made: Corpus, limits: Limits) -> int:
    """Run a saved input again, and show the traceback."""
    outcome = try_input(Input.load(path), made, made.folder.parent / "replayed", limits)
    print(outcome.details, file=sys.stderr)
    print(outcome.fault or ("refused, as it should be" if outcome.refused else "a result, as it should be"))
    return int(outcome.fault is not None)


if __name__ == "__main__":
    raise SystemExit(main())
