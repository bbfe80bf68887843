"""A real cluster of two Ray nodes on this machine, one of which is lost in the middle of a run."""

import hashlib
import os
import threading

import pytest

from bilex.bench.cluster import _there
from bilex.bench.inputs import Ready
from bilex.bench.runner import run
from bilex.bench.suite import Suite
from bilex.errors import SuiteError
from bilex.files import sha256

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

SUITE = """
title = "Small"

[directions.s-t]
source = { file = "x.safetensors" }
target = { file = "z.vec" }
train = { file = "train.tsv" }
test = { file = "test.tsv" }

[[systems]]
method = "procrustes"

[[systems]]
method = "ridge"

[[systems]]
method = "rapo"
settings = { start = "procrustes", epochs = "2", hard = "8", random = "8" }
"""
STUCK = """
import pathlib, sys

if "bilex.bench.cell" in sys.orig_argv:
    pathlib.Path({begun!r}).touch()
    sys.stdin.read()
    sys.exit(1)
"""
"""In a sitecustomize.py: a cell begins, and never ends unless whoever has started it does."""
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@pytest.fixture
def cluster(monkeypatch):
    """A cluster of one node, which has room for one cell at a time."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args=NODE)
    yield made
    made.shutdown()


@pytest.fixture
def lost(cluster, tmp_path):
    """A second node, all of whose cells are stuck, which is killed when the first of them is; then this file exists."""
    place, begun, over = tmp_path / "stuck", tmp_path / "begun", threading.Event()
    place.mkdir()
    (place / "sitecustomize.py").write_text(STUCK.format(begun=str(begun)))
    path = os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])

    node = cluster.add_node(**NODE, env_vars={"PYTHONPATH": path})

    def kill():
        while not begun.exists() and not over.wait(0.05):
            pass
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    yield begun
    over.set()
    killer.join()


@pytest.mark.filterwarnings("ignore:.*subprocess .* is still running:ResourceWarning")
def test_a_run_that_loses_a_node_gives_what_the_local_run_gives(write, tmp_path, cluster, lost):
    suite = Suite.read(write(SUITE))
    there = run(suite, tmp_path / "there", cluster=cluster.address)
    here = run(suite, tmp_path / "here")
    assert lost.exists()
    assert [cell.status for cell in there] == ["done"] * 3
    assert [_lasting(cell) for cell in there] == [_lasting(cell) for cell in here]


def _lasting(cell):
    """All but what differs from run to run."""
    found = cell.to_json()
    for name in ("seconds", "seconds_evaluation", "peak_gigabytes", "made_at"):
        del found[name]
    for record in found["trace"]:
        for name in [name for name in record if name.endswith("seconds")]:
            del record[name]
    return found


def test_a_machine_that_cannot_see_a_file_gets_it_once(write, tmp_path, monkeypatch):
    asked = []

    class Store:
        def get(self, reference):
            asked.append(reference)
            return b"contents"

    monkeypatch.setattr("bilex.bench.cluster.import_ray", Store)
    digest = hashlib.sha256(b"contents").hexdigest()
    for path in (tmp_path / "nowhere.vec", tmp_path / "z.vec"):
        ready = Ready(path=path, max_words=None, sha256=digest, label="x")
        assert _there(ready, "reference") == tmp_path / "data" / "tables" / f"{digest}.vec"
    assert asked == ["reference"]
    own = Ready(path=tmp_path / "z.vec", max_words=None, sha256=sha256(tmp_path / "z.vec"), label="x")
    assert _there(own, "reference") == tmp_path / "z.vec"


def test_a_cluster_that_is_not_there(small, tmp_path):
    with pytest.raises(SuiteError, match=r"no Ray cluster at '127.0.0.1:1'.*ray start --head"):
        run(small, tmp_path / "results", cluster="127.0.0.1:1")
