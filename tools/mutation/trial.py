"""Runs tests against a changed program, in a copy of the checkout and in a process of its own.

The process is forked from one that has imported the large libraries already, and nothing of the program.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest

from mutation.selection import file_of

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from pathlib import Path

    from mutation.mutants import Mutant

LIBRARIES = "numpy scipy.stats torch safetensors.torch polars click rich.table"
MEMORY = 8 << 30
"""Bytes that a change may make the tests take."""
PATIENCE, UNKNOWN = 30.0, 75.0
"""Seconds that a test may take longer than twenty times what it took before; and one of which that is not known."""


def prepare(root: Path) -> None:
    """What every forked process inherits."""
    sys.dont_write_bytecode = False
    for name in LIBRARIES.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    shared = root.parent / "shared"
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    if shared.is_dir():
        os.environ.setdefault("BILEX_SHARED", str(shared))


def copy_checkout(root: Path, copy: Path) -> None:
    """The files that git knows or would take, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, check=True, stdout=-1)
    shutil.rmtree(copy, ignore_errors=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name)


class Trial:
    """Tests of one mutant, running in a copy of the checkout that no other trial uses meanwhile."""

    def __init__(self, copy: Path, mutant: Mutant, tests: list[str], seconds: dict[str, float]) -> None:
        self.mutant, self._copy, self._tests = mutant, copy, tests
        self._original = (copy / mutant.file).read_bytes(), (copy / mutant.file).stat()
        self._started = time.perf_counter()
        (copy / mutant.file).write_text(mutant.text, encoding="utf-8")
        # Python tells changed files by size and whole seconds: this time has no other version of the file.
        changed = self._original[1].st_mtime + 2 + int(mutant.key[:6], 16)
        os.utime(copy / mutant.file, (changed, changed))
        self.process: BaseProcess = get_context("fork").Process(target=_run, args=(copy, tests, seconds))
        self.process.start()

    def result(self) -> dict[str, Any]:
        """What came of it, once the process has ended; the copy is as before."""
        self.process.join()
        self.end()  # what a test has left behind
        path = self._copy / self.mutant.file
        path.write_bytes(self._original[0])
        os.utime(path, ns=(self._original[1].st_atime_ns, self._original[1].st_mtime_ns))
        code = self.process.exitcode
        progress = _progress(self._copy)
        survived = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        return {
            "key": self.mutant.key,
            "file": self.mutant.file,
            "line": self.mutant.line,
            "scope": self.mutant.scope,
            "operator": self.mutant.operator,
            "diff": self.mutant.diff,
            "noticed": not survived,
            "by": None if survived else progress[-1] if progress else "collection",
            "how": _how(code),
            "tests": len(self._tests),
            "seconds": round(time.perf_counter() - self._started, 1),
        }

    def end(self) -> None:
        """Kill it, with all it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid or 0, signal.SIGKILL)


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return "no end" if -code == signal.SIGALRM else f"killed by {signal.Signals(-code).name}"
    known = {0: "passed", 1: "failed", 5: "no tests"}
    return known.get(code or 0, "import fails")


def _run(copy: Path, tests: list[str], seconds: dict[str, float]) -> None:
    enter(copy)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    files = list(dict.fromkeys(file_of(test) for test in tests))
    code = (
        pytest.main(["-x", "-p", "no:cacheprovider", *files], plugins=[_Chosen(copy, tests, seconds)]) if files else 5
    )
    sys.stdout.flush()
    os._exit(int(code))


def enter(copy: Path) -> None:
    """Let this process, and those it starts, work in the copy and with the program there; what they say is kept."""
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM):  # tests send them; nohup ignores the one, `mutate.py` has the other
        signal.signal(number, signal.SIG_DFL)
    os.chdir(copy)
    sys.path[:0] = [str(copy / "src")]
    os.environ["PYTHONPATH"] = str(copy / "src")
    log = os.open(copy / "trial.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    (copy / "trial.jsonl").write_text("")


class _Chosen:
    """A plugin of pytest: runs the chosen tests in their order, each with a time limit, and says which is running."""

    def __init__(self, copy: Path, tests: list[str], seconds: dict[str, float]) -> None:
        self._file = copy / "trial.jsonl"
        self._seconds = seconds
        self._tests = set(tests)
        """Names of tests, and of files of which all tests are meant."""
        self._files = list(dict.fromkeys(file_of(test) for test in tests))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [item for item in items if not self._tests.isdisjoint((item.nodeid, file_of(item.nodeid)))]
        items[:] = sorted(kept, key=lambda item: self._files.index(file_of(item.nodeid)))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        known = self._seconds.get(nodeid)
        signal.setitimer(signal.ITIMER_REAL, UNKNOWN if known is None else PATIENCE + 20 * known)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(nodeid) + "\n")

    def pytest_runtest_logfinish(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _progress(copy: Path) -> list[str]:
    file = copy / "trial.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
