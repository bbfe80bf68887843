"""A suite on the small world, quick enough to be run, and cells that run in this process."""

from __future__ import annotations

import json

import pytest
import torch

from bilex.bench.cell import run_task
from bilex.bench.inputs import Store
from bilex.bench.results import cell_from_json
from bilex.bench.suite import Suite
from bilex.bench.task import Task

DIRECTIONS = """
title = "Small"

[directions.s-t]
source = { file = "x.safetensors" }
target = { file = "z.vec" }
train = { file = "train.tsv" }
test = { file = "test.tsv" }

[directions.short]
source = { file = "x.safetensors", max_words = 120 }
target = { file = "z.vec", max_words = 120 }
train = { file = "train.tsv" }
test = { file = "test.tsv" }
"""
SYSTEMS = """
[[systems]]
method = "procrustes"

[[systems]]
label = "ridge, weak"
method = "ridge"
settings = { penalty = "0.1" }
directions = ["s-t"]
"""
RAPO = """
[[systems]]
method = "rapo"
settings = { start = "procrustes", epochs = "3", hard = "8", random = "8" }
directions = ["s-t"]
"""


@pytest.fixture(autouse=True)
def _as_it_was(tmp_path, monkeypatch):
    """Converted tables stay in the test's folder, and threads are as they were."""
    monkeypatch.setenv("BILEX_DATA", str(tmp_path / "data"))
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def write(tmp_path, world):
    """Write a suite beside the files of the small world, and give its path."""

    def write(text, name="small.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    world.source.write(tmp_path / "x.safetensors")
    world.target.write(tmp_path / "z.vec")
    world.train.write(tmp_path / "train.tsv")
    world.test.write(tmp_path / "test.tsv")
    return write


@pytest.fixture
def small(write):
    """A suite of three cells."""
    return Suite.read(write(DIRECTIONS + SYSTEMS))


@pytest.fixture
def make_task(write, tmp_path):
    """The task of the first cell of a suite of these systems."""

    def make(systems, directions=DIRECTIONS):
        cell = Suite.read(write(directions + systems)).cells()[0]
        return Task.make(cell, Store(tmp_path / "tables"), threads=1, device="cpu")

    return make


@pytest.fixture
def here(monkeypatch):
    """Let cells run in this process, and tell which ones did."""
    ran = []

    def run(tasks, folder, *, jobs):
        for task in tasks:
            (folder / task.name).mkdir(parents=True, exist_ok=True)
            ran.append(task.name)
            found = run_task(task, folder / task.name).to_json()
            yield task, cell_from_json(json.loads(json.dumps(found)), folder)

    monkeypatch.setattr("bilex.bench.runner.run_side_by_side", run)
    return ran
