import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from bilex.errors import LexiconError, TableError
from bilex.lexicon import Lexicon
from bilex.table import EmbeddingTable
from fuzzing import targets
from fuzzing.containers import mutate_npy, mutate_npz, mutate_safetensors, mutate_sqlite, mutate_workbook
from fuzzing.inputs import Input, Special
from fuzzing.mutators import mutate_bytes, mutate_json, mutate_json_lines, mutate_lines, some
from fuzzing.targets import Target
from fuzzing.workers import Limits, try_input

SHEETS = Path(__file__).resolve().parents[1] / "io" / "sheets" / "files"
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz.py"
INPUTS = 4000
"""So many take less than a minute."""


def fuzz(*args):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, args)], capture_output=True, text=True)


def test_damaged_files_are_refused_or_give_finite_numbers(tmp_path):
    """Of every kind; more inputs, of other seeds: python benchmarks/fuzz.py --rng-seed N."""
    ended = fuzz("--inputs", INPUTS, "--jobs", 1, "--seconds-each", 60, "--folder", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"\n{INPUTS:,} inputs in " in ended.stdout


@pytest.fixture
def outcome(tmp_path, monkeypatch):
    """What the fuzzer says of one input, with which a function is called."""

    def find(use, limits=None, **files):
        monkeypatch.setitem(targets.TARGETS, "made-up", Target(None, lambda _, folder, rng: use(folder), 1))
        given = Input("made-up", 0, 0, files)
        return try_input(given, None, tmp_path / "work", limits or Limits(seconds=60.0))

    return find


def refuse(message):
    raise TableError(message)


def refuse_unescaped():
    raise UnescapedError("")


class UnescapedError(TableError):
    """One that goes round `printable`, through which all others are made."""

    def __str__(self):
        return "a\x1b[31m"


def test_a_result_and_a_refusal_are_right(outcome):
    assert outcome(lambda folder: None) == outcome(lambda folder: (folder / "a").read_bytes(), a=b"1")
    for message in ("no table", "what is quoted, \x1b[31m, is escaped by the error itself"):
        found = outcome(lambda folder, message=message: refuse(message))
        assert (found.fault, found.refused) == (None, True)


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        (lambda folder: 1 // 0, "ZeroDivisionError"),
        (lambda folder: warnings.warn("so", stacklevel=1), "UserWarning"),
        (lambda folder: np.zeros(1) / 0, "RuntimeWarning"),
        (lambda folder: targets.check_finite({"a": [1.0, float("nan")]}), "result.a is nan"),
        (lambda folder: targets.check_finite(np.array([np.inf])), "result has numbers that are not finite"),
        (lambda folder: targets.check_json('{"a": Infinity}'), "the JSON holds Infinity"),
        (lambda folder: refuse(""), "a message without words"),
        (lambda folder: refuse_unescaped(), "a message holds '\\x1b'"),
    ],
)
def test_anything_else_is_a_fault(outcome, use, kind):
    assert outcome(use).fault.startswith(kind)


def test_a_hang_is_a_fault_that_nothing_catches(outcome):
    def use(folder):
        while True:
            try:
                time.sleep(1)
            except Exception:
                continue

    assert outcome(use, Limits(seconds=0.05)).fault.startswith("TimeIsUp")


def test_memory_counts_even_if_it_is_refused_in_the_end(outcome):
    def use(folder):
        np.ones(32 << 20)  # far more than the system may take from an idle process in the meantime
        refuse("too large")

    assert outcome(use, Limits(memory=16 << 20)).fault == "made-up: memory"
    assert outcome(use, Limits(memory=1 << 30)).fault is None


def test_an_input_that_was_kept_is_tried_again(tmp_path):
    Input("text", 5, 6, {"table": b"\0"}).save(tmp_path / "kept.json", "a fault")
    ended = fuzz("--replay", tmp_path / "kept.json")
    assert (ended.returncode, ended.stdout) == (0, "refused, as it should be\n"), ended.stderr
    assert "binary data of an unknown format" in ended.stderr


def test_inputs_as_files(tmp_path):
    files = {
        "a/b": b"\0\xff",
        "pipe": Special("fifo"),
        "link": Special("link", "a/b"),
        "folder": Special("folder"),
    }
    given = Input("run", 1, 2, files)
    given.save(tmp_path / "kept.json", "")
    assert Input.load(tmp_path / "kept.json") == given
    given.write(tmp_path / "made")
    assert (tmp_path / "made" / "link").read_bytes() == b"\0\xff"
    assert (tmp_path / "made" / "pipe").is_fifo()
    assert (tmp_path / "made" / "folder").is_dir()


JSON = b'{"a": [1, 2.5, "x"], "b": {"c": null}}'


@pytest.mark.parametrize(
    ("mutate", "data"),
    [
        (mutate_bytes, b"2 3\na 1 2 3\n"),
        (mutate_lines, b"a\tb\nc\td\n"),
        (mutate_json, JSON),
        (mutate_json_lines, JSON + b"\n" + JSON + b"\n"),
    ],
)
def test_damage_depends_on_the_generator_alone(mutate, data):
    made = [[some(data, Random(seed), mutate) for seed in range(200)] for _ in range(2)]
    assert made[0] == made[1]
    assert sum(damaged == data for damaged in made[0]) < 20
    assert len(set(made[0])) > 100


@pytest.mark.parametrize("name", ["t.npz", "t.safetensors"])
def test_containers_stay_well_formed_often_enough(tmp_path, name):
    """Otherwise nothing behind the first check would be tried."""
    path = tmp_path / name
    EmbeddingTable(["a", "b", "c"], np.eye(3, dtype=np.float32)).write(path)
    mutate = mutate_npz if name == "t.npz" else mutate_safetensors
    whole, read = path.read_bytes(), 0
    for seed in range(200):
        path.write_bytes(some(whole, Random(seed), mutate))
        try:
            EmbeddingTable.read(path)
        except Exception:
            continue
        read += 1
    assert 10 <= read < 190


@pytest.mark.parametrize("name", ["lo.xlsx", "lo.ods"])
def test_workbooks_stay_well_formed_often_enough(tmp_path, name):
    whole, read = (SHEETS / name).read_bytes(), 0
    for seed in range(200):
        (tmp_path / name).write_bytes(some(whole, Random(seed), mutate_workbook))
        with suppress(LexiconError):
            read += len(Lexicon.read(tmp_path / name)) > 0
    assert 10 <= read < 190


def test_whatever_is_damaged_already_can_be_damaged_further():
    containers = (mutate_npy, mutate_npz, mutate_safetensors, mutate_sqlite, mutate_workbook)
    for mutate in (*containers, mutate_json, mutate_json_lines):
        for data in (b"", b"x", b"\x93NUMPY\x01\x00", b"\0" * 50, b"[" * 5000):
            for seed in range(20):
                assert isinstance(some(data, Random(seed), mutate), bytes)
