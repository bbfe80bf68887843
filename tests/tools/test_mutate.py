"""A small program with a test that sees some of what it does."""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mutation.mutants import replaced, sample
from mutation.operators import changes, choices
from mutation.selection import Mirrored, mirrored

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "mutate.py"
PROGRAM = '''"""Doubles small numbers."""

LIMIT = 3


def double(number: int = 1) -> int:
    """Twice the number."""
    while number < LIMIT:
        number += number
        break
    return number


def unseen(number):
    return number - 1
'''
TEST = """
from toy.maths import double

def test_double():
    assert [double(n) for n in (1, 2, 5)] == [2, 4, 5]
"""
NOTICED = {(3, True), (6, False), (8, True), (9, True), (10, True), (15, False)}
"""Lines of the program, and whether the test notices their change."""


def mutate(source, groups=None):
    """Every text that comes of a source by one change, with the kind of change."""
    tree = ast.parse(source)
    found = changes(tree, choices(tree) if groups is None else groups)
    return {(change.operator, replaced(source, change.node, change.after)) for change in found}


@pytest.mark.parametrize(
    ("before", "operator", "after"),
    [
        ("a < b", "comparison", "(a <= b)"),
        ("a <= b < c", "comparison", "(a <= b <= c)"),
        ("a in b", "comparison", "(a not in b)"),
        ("a and b", "and and or", "(a or b)"),
        ("a if b else c", "negation", "a if (not (b)) else c"),
        ("a if not b else c", "negation", "a if (b) else c"),
        ("[a for a in b if a]", "negation", "[a for a in b if (not (a))]"),
        ("a // b", "arithmetic", "(a * b)"),
        ("-a", "sign", "(a)"),
        ("f(a, b=c)", "argument dropped", "f(a)"),
        ("a[:b]", "bound of slice", "a[:(b) - 1]"),
        ("a[:b]", "bound of slice", "a[:None]"),
        ("f(7)", "constant", "f(8)"),
        ("f(True)", "constant", "f(False)"),
        ("é = [2]", "constant", "é = [3]"),
        ("f()", "statement deleted", "pass"),
        ("a.b = 1", "statement deleted", "pass"),
        ("a += b", "arithmetic", "a -= b"),
        ("raise ValueError(3)", "raise deleted", "pass"),
        ("for a in b:\n    break", "break and continue", "for a in b:\n    continue"),
    ],
)
def test_a_change_of_each_kind(before, operator, after):
    assert (operator, after) in mutate(before)


def test_a_choice_becomes_the_next_one():
    source = 'Side = Literal["left", "right"]\nf("right", "up")'
    assert mutate(source) == {
        ("choice", source.replace('f("right"', "f('left'")),
        ("statement deleted", source.replace('f("right", "up")', "pass")),
    }


@pytest.mark.parametrize(
    "source",
    [
        '"""3 and 4"""',
        "__all__ = [1]",
        "def f(a: Literal[1] = None) -> Literal[2]:\n    '''a < b'''",
        "if TYPE_CHECKING:\n    a = 1",
        "assert a < 3",
        'a = f"{b + 1}"',
        'a = b + "text"',
        "Kind = Literal[1, 2]",
    ],
)
def test_what_is_no_behaviour_stays(source):
    assert mutate(source) == set()


def test_only_the_error_itself_and_not_its_message():
    assert mutate("raise ValueError(a + 3)") == {("raise deleted", "pass")}


def test_the_sample_stays_when_other_code_comes(tmp_path):
    """At most one change of a line; those of a file do not depend on other files, nor on the numbers of its lines."""
    first, second = tmp_path / "src" / "a.py", tmp_path / "src" / "b.py"
    first.parent.mkdir()
    first.write_text(PROGRAM, encoding="utf-8")
    before = sample(tmp_path, [first], count=100, rng_seed=0)
    assert len({mutant.line for mutant in before}) == len(before) == 6
    first.write_text("# a comment\n\n" + PROGRAM, encoding="utf-8")
    second.write_text("x = 1\ny = 2\n", encoding="utf-8")
    after = sample(tmp_path, [first, second], count=100, rng_seed=0)
    assert len(after) == 8
    assert [mutant.key for mutant in after if mutant.file == "src/a.py"] == [mutant.key for mutant in before]
    assert [mutant.key for mutant in sample(tmp_path, [first], count=100, rng_seed=1)] != [m.key for m in before]


def test_mirrored():
    assert mirrored("src/bilex/io/text.py") == ("tests/io/test_text.py", "tests/io")
    assert mirrored("src/bilex/table.py") == ("tests/test_table.py", "tests")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkout")
    for name, text in (("src/toy/maths.py", PROGRAM), ("src/toy/__init__.py", ""), ("tests/test_maths.py", TEST)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def call(root, *args):
    command = [sys.executable, str(SCRIPT), "--root", str(root), "--folder", str(root / "build"), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True)


def test_what_tests_see_and_what_they_do_not(checkout):
    ended = call(checkout, "--jobs", 2)
    results = [json.loads(line) for line in (checkout / "build" / "results.jsonl").read_text().splitlines()]
    noticed = {(result["line"], result["noticed"]) for result in results}
    assert noticed == NOTICED, ended.stderr
    assert {result["by"] for result in results if result["noticed"]} == {"tests/test_maths.py::test_double"}
    assert ended.returncode == 1
    assert "+    return (number + 1)" in ended.stdout or "+    return number - " in ended.stdout
    assert (checkout / "src" / "toy" / "maths.py").read_text() == PROGRAM
    # A second call has nothing left to do, and counts what a person has found.
    judged = checkout / "judged.tsv"
    keys = [result["key"] for result in results if not result["noticed"]]
    judged.write_text(f"{keys[0]}\tequivalent\tnobody asks\n{keys[1]}\tspeed\n")
    again = call(checkout, "--judged", judged)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1].split() == ["all", "4", "0", "2", "100.0%"]
    assert len((checkout / "build" / "results.jsonl").read_text().splitlines()) == 6


def test_what_mirrored_tests_notice_without_measuring(checkout):
    folder = checkout / "mirrored"
    assert call(checkout, "--mirrored", "--folder", folder).returncode == 1
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert {(result["line"], result["noticed"]) for result in results} == NOTICED
    assert not list(folder.glob("*.coverage"))
    assert call(checkout, "--retry", "--folder", folder).returncode == 1
    assert len((folder / "results.jsonl").read_text().splitlines()) == len(results) + 2, "the survivors once more"


def test_modules_without_tests_of_their_own(tmp_path):
    """Tests that import the module, or have its name; if there are none, those of the package, the short ones first."""
    for name, text in (
        ("tests/b/test_b.py", "from toy.a.maths import double  # or more"),
        ("tests/c/test_maths.py", ""),
        ("tests/a/test_long.py", "import toy.a.maths_of_another_kind"),
        ("tests/a/test_short.py", ""),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    mutant = sample(ROOT, [SCRIPT], count=1, rng_seed=0)[0]
    for file, tests in (
        ("a/maths", ["tests/c/test_maths.py", "tests/b/test_b.py"]),
        ("a/short", ["tests/a/test_short.py"]),
        ("a/other", ["tests/a/test_short.py", "tests/a/test_long.py"]),
    ):
        assert Mirrored(tmp_path).tests_for(replace(mutant, file=f"src/toy/{file}.py")) == tests
