"""Tries inputs in processes of their own, under limits of time and memory, and says what went wrong."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from bilex.errors import BilexError
from fuzzing.checks import WrongError, check_text
from fuzzing.corpus import Corpus, fresh
from fuzzing.inputs import Input
from fuzzing.targets import TARGETS
from measuring import peak_memory, reset_peak_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

GRACE = 5.0
"""Seconds after its time limit at which a process that does not listen is ended from outside."""
ADDRESS_SPACE = 4
"""So many times the memory limit may be reserved."""
PROGRAM = f"{os.sep}bilex{os.sep}"


@dataclass(frozen=True)
class Limits:
    """Of one input: seconds, and bytes that the resident set may grow by."""

    seconds: float = 10.0
    memory: int = 256 << 20


@dataclass(frozen=True)
class Outcome:
    """What came of an input: a result, refused or not, or a fault."""

    refused: bool = False
    fault: str | None = None
    """Its kind and place in the program: two faults that agree in them are probably the same one."""
    details: str = ""


class TimeIsUp(BaseException):
    """The input has passed its time limit."""


def make_input(corpus: Corpus, rng_seed: int, number: int, names: list[str]) -> Input:
    """The input of that number; the same for the same seed and targets."""
    rng = Random(f"{rng_seed} {number}")
    name = rng.choices(names, [TARGETS[name].weight for name in names])[0]
    return Input(name, rng_seed, number, TARGETS[name].make(corpus, rng))


def try_input(given: Input, corpus: Corpus, folder: Path, limits: Limits) -> Outcome:
    """Do with the files what a user would."""
    given.write(fresh(folder))
    rng = Random(f"{given.rng_seed} {given.number} use")
    reset_peak_memory()
    before = peak_memory()
    try:
        with _hooked(limits.seconds):
            TARGETS[given.target].use(corpus, folder, rng)
        outcome = Outcome()
    except BilexError as error:
        outcome = _refused(error)
    except (TimeIsUp, Exception) as error:
        outcome = _fault(error)
    grown = peak_memory() - before
    if outcome.fault is None and grown > limits.memory:
        outcome = Outcome(fault=f"{given.target}: memory", details=f"{grown >> 20:,} MB, refused: {outcome.refused}")
    shutil.rmtree(folder, ignore_errors=True)
    return outcome


@contextmanager
def _hooked(seconds: float) -> Iterator[None]:
    """Warnings, errors in destructors and the end of the time become exceptions."""

    def ring(*_: Any) -> None:
        raise TimeIsUp

    unraised: list[BaseException] = []
    before, hook = signal.signal(signal.SIGALRM, ring), sys.unraisablehook
    sys.unraisablehook = lambda found: unraised.append(found.exc_value or WrongError("unraisable"))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
    if unraised:
        raise unraised[0]


def _refused(error: BilexError) -> Outcome:
    try:
        check_text(str(error))
    except WrongError as wrong:
        return Outcome(fault=f"{wrong.args[0].partition(':')[0]} at {_place(error)}", details=str(wrong))
    return Outcome(refused=True, details=str(error))


def _fault(error: BaseException) -> Outcome:
    kind = type(error).__name__
    if isinstance(error, WrongError):
        kind = str(error).partition(":")[0][:80]
    lines = traceback.format_exception(error, limit=-12)
    return Outcome(fault=f"{kind} at {_place(error)}", details="".join(lines))


def _place(error: BaseException) -> str:
    """The innermost function of the program."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if PROGRAM in frame.filename]
    if not frames:
        return "the fuzzer"
    return f"{frames[-1].filename.rpartition(PROGRAM)[2]}:{frames[-1].name}"


class Worker:
    """A process that tries every so-manieth input, and the counts that it shares with this one."""

    def __init__(self, job: int, jobs: int, start: Callable[[Worker], None]) -> None:
        context = get_context("fork")
        self.jobs = jobs
        self.next = context.RawValue(ctypes.c_longlong, job)
        self.began = context.RawValue(ctypes.c_double, 0.0)
        self.counts = {name: context.RawArray(ctypes.c_longlong, 2) for name in TARGETS}
        self.seconds = {name: context.RawValue(ctypes.c_double, 0.0) for name in TARGETS}
        self._context, self._start = context, start
        self.begin()

    def begin(self) -> None:
        """Start the process, or another one after it has died."""
        self.received, self.sent = self._context.Pipe(duplex=False)
        self.began.value = time.monotonic()
        self.process = self._context.Process(target=self._start, args=(self,))
        self.process.start()
        self.sent.close()

    def died(self, limits: Limits) -> str | None:
        """How it ended without being asked to; one that no longer listens is ended here."""
        if self.process.is_alive():
            if time.monotonic() - self.began.value < limits.seconds + GRACE:
                return None
            self.process.kill()
            self.process.join()
            return "no end, and it does not listen"
        code = self.process.exitcode or 0
        return None if code == 0 else f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"


def work(worker: Worker, corpus: Corpus, rng_seed: int, last: int | None, names: list[str], limits: Limits) -> None:
    """What a worker's process does, until it has tried the last input or its parent ends it."""
    _limit_memory(limits)
    folder = Path(os.environ["BILEX_FUZZ"]) / f"work-{os.getpid()}"
    try:
        while last is None or worker.next.value < last:
            given = make_input(corpus, rng_seed, worker.next.value, names)
            started = worker.began.value = time.monotonic()
            outcome = try_input(given, corpus, folder, limits)
            worker.seconds[given.target].value += time.monotonic() - started
            worker.counts[given.target][0] += 1
            worker.counts[given.target][1] += outcome.refused
            worker.next.value += worker.jobs
            if outcome.fault is not None:
                worker.sent.send((given, outcome))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _limit_memory(limits: Limits) -> None:
    """Let huge requests fail at once; those of files that are mapped into memory do not count."""
    status = Path("/proc/self/status").read_text()
    now = int(status.split("VmData:")[1].split()[0]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (now + ADDRESS_SPACE * limits.memory, resource.RLIM_INFINITY))


def answered(connection: Connection) -> Any:
    """What a worker has sent, or nothing if it has not, or is gone."""
    try:
        return connection.recv() if connection.poll() else None
    except (EOFError, OSError):
        return None
