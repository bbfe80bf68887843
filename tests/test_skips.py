"""In CI nothing is skipped unnoticed: what the tests need is installed, and a skip is a failure."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest

def test_skips():
    pytest.skip("no Chromium is installed here")

@pytest.mark.skipif(True, reason="no such system")
def test_is_skipped():
    pass

def test_allowed():
    pytest.skip("no data: set BILEX_SHARED")

@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    assert False
"""
FILE = 'import pytest\npytest.importorskip("no_such_module_anywhere")\n'


@pytest.mark.parametrize(
    ("strict", "options", "failed", "skipped"),
    [({}, [], 0, 4), ({"BILEX_NO_SKIPS": "1"}, [], 3, 1), ({"BILEX_NO_SKIPS": "1"}, ["--numprocesses=2"], 3, 1)],
    ids=str,
)
def test_a_skip_is_a_failure_where_nothing_may_be_skipped(tmp_path, strict, options, failed, skipped):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_file.py").write_text(FILE)
    environment = {name: value for name, value in os.environ.items() if name != "BILEX_NO_SKIPS"} | strict
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        *options,
        tmp_path,
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == bool(failed), done.stdout
    told = {what: int(count) for count, what in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}
    assert (told["skipped"], told["xfailed"]) == (skipped, 1)
    assert sum(told.get(what, 0) for what in ("failed", "error", "errors")) == failed


@pytest.fixture
def machine(tmp_path):
    """A machine with nothing but some programs, which write down how they are called; runs .ci/run there."""
    programs, calls = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    for name in ("bash", "dirname", "env"):
        (programs / name).symlink_to(shutil.which(name))

    def put(name, lines):
        (programs / name).write_text(f'#!/usr/bin/env bash\necho "{name} $*" >> {calls}\n{lines}\n')
        (programs / name).chmod(0o755)

    def run():
        done = subprocess.run([ROOT / ".ci" / "run"], env={"PATH": str(programs)}, capture_output=True, text=True)
        said = calls.read_text().splitlines() if calls.exists() else []
        return done.returncode, [line for line in said if not line.startswith("id ")]

    put("make", 'test "$BILEX_NO_SKIPS" = 1 && ! read -r')
    put("id", "echo 0")
    run.put, run.programs = put, programs
    return run


INSTALL = "apt-get install --quiet --yes --no-install-recommends chromium"


@pytest.mark.skipif(sys.platform == "win32", reason="a script of the shell")
class TestCI:
    def test_a_browser_is_installed_where_there_is_none(self, machine):
        machine.put("apt-get", "")
        assert machine() == (0, [INSTALL, "make test"])

    def test_lists_of_packages_are_fetched_where_there_are_none(self, machine):
        machine.put(
            "apt-get", f'if [ "$1" = update ]; then touch {machine.programs}/lists; fi; [ -e {machine.programs}/lists ]'
        )
        machine.programs.joinpath("touch").symlink_to(shutil.which("touch"))
        assert machine() == (0, [INSTALL, "apt-get update --quiet", INSTALL, "make test"])

    def test_where_it_cannot_be_installed_the_tests_are_run_and_fail_for_it(self, machine):
        machine.put("apt-get", "exit 1")
        assert machine() == (0, [INSTALL, "apt-get update --quiet", "make test"])

    def test_one_that_is_there_is_taken(self, machine):
        machine.put("apt-get", "exit 1")
        machine.put("chromium", "")
        assert machine() == (0, ["make test"])

    def test_who_is_not_root_installs_nothing(self, machine):
        machine.put("apt-get", "exit 1")
        machine.put("id", "echo 1000")
        assert machine() == (0, ["make test"])

    def test_a_test_that_fails_fails_the_run(self, machine):
        machine.put("chromium", "")
        machine.put("make", "exit 2")
        assert machine() == (2, ["make test"])
