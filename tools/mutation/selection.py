"""Which tests can notice a change: measured once by running all of them, one context of coverage.py for each."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import coverage
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mutation.mutants import Mutant

LINES, SECONDS = "lines.coverage", "seconds.json"


def measure_tests(tests: list[str], folder: Path) -> int | pytest.ExitCode:
    """Run the tests, and keep which lines each of them executes, and how long those take that pass."""
    return pytest.main(["-p", "no:cacheprovider", *tests], plugins=[_Measuring(folder)])


class Selection:
    """What `measure_tests` has kept."""

    def __init__(self, folder: Path, root: Path) -> None:
        """`root`: the checkout in which the tests were measured."""
        self._root = root
        self._data: Any = coverage.CoverageData(basename=str(folder / LINES))
        self._data.read()
        self.seconds: dict[str, float] = json.loads((folder / SECONDS).read_text(encoding="utf-8"))

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Tests that could notice the change, those that most likely do first.

        The module's own tests, all of them; then those of its package and those of others that execute the statement.
        A change at import time, or one that no test executes, concerns all tests of the package, and all that execute
        anything of the file. What a subprocess executes is not measured.
        """
        own, package = mirrored(mutant.file)
        by_line = self._data.contexts_by_lineno(str(self._root / mutant.file))
        first, last = mutant.statement
        executing = self._executing(by_line[line] for line in range(first, last + 1) if line in by_line)
        anywhere = mutant.at_import or not executing
        if anywhere:
            executing = self._executing(by_line.values())
        chosen = [
            test
            for test in self.seconds
            if file_of(test) == own or test in executing or (anywhere and test.startswith(f"{package}/"))
        ]
        seconds: dict[str, float] = {}
        for test in chosen:
            seconds[file_of(test)] = seconds.get(file_of(test), 0.0) + self.seconds[test]

        def distance(test: str) -> tuple[int, float, str]:
            file = file_of(test)
            return (0 if file == own else 1 if file.startswith(f"{package}/") else 2, seconds[file], file)

        return sorted(chosen, key=distance)

    def _executing(self, contexts: Any) -> set[str]:
        """Tests by context. What prepares a test may prepare others of its file: all of them count."""
        called, files = set(), set()
        for context in {one for some in contexts for one in some}:
            test, _, phase = context.rpartition("|")
            called.add(test)
            if phase == "setup":
                files.add(file_of(test))
        return {test for test in self.seconds if test in called or file_of(test) in files}


class Mirrored:
    """What is known without measuring."""

    def __init__(self, root: Path) -> None:
        self._root = root
        files = sorted(root.glob("tests/**/test_*.py"), key=lambda path: (path.stat().st_size, path))
        self._texts = {path: path.read_text(encoding="utf-8") for path in files}
        """The short ones first."""
        self.seconds: dict[str, float] = {}

    def tests_for(self, mutant: Mutant) -> list[str]:
        """The file of the module's own tests; where it has none, those that import the module, or else its package."""
        own, package = (self._root / name for name in mirrored(mutant.file))
        if own in self._texts:
            return [self._name(own)]
        module = ".".join(PurePosixPath(mutant.file).with_suffix("").parts[1:])
        importing = [path for path, text in self._texts.items() if path.name == own.name or f"{module} " in text]
        return [self._name(path) for path in importing or self._texts if importing or path.parent == package]

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def mirrored(file: str) -> tuple[str, str]:
    """The test file of a module, and the folder of tests of its package: of src/bilex/a/b.py tests/a/test_b.py."""
    inside = PurePosixPath(file).relative_to("src").parts[1:]
    folder = PurePosixPath("tests", *inside[:-1])
    return str(folder / f"test_{inside[-1]}"), str(folder)


def file_of(test: str) -> str:
    """The file of a test, by its name."""
    return test.partition("::")[0]


class _Measuring:
    """A plugin of pytest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._coverage = coverage.Coverage(data_file=str(folder / LINES), source=["src"], messages=False)
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()

    def pytest_sessionstart(self) -> None:
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(f"{item.nodeid}|setup")
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(f"{item.nodeid}|call")
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(f"{item.nodeid}|setup")
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        passed = {name: seconds for name, seconds in self._seconds.items() if name not in self._failed}
        (self._folder / SECONDS).write_text(json.dumps(passed), encoding="utf-8")
