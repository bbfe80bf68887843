"""A real cluster of two Ray nodes on this machine, one of which is lost in the middle of a run, and then a process."""

import csv
import os
import threading

import pytest

from bilex import sample
from bilex.bench.runner import run
from bilex.bench.suite import Suite
from bilex.cli import main
from bilex.cluster import _there, connected
from bilex.errors import ClusterError
from bilex.files import sha256

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

WORDS = 500
SUITE = """
title = "Small"

[directions.s-t]
source = { file = "x.vec" }
target = { file = "z.vec" }
train = { file = "train.tsv" }
test = { file = "test.tsv" }

[[systems]]
method = "procrustes"

[[systems]]
method = "ridge"

[[systems]]
method = "rapo"
settings = { start = "procrustes", epochs = "1", hard = "8", random = "8" }
"""
STUCK = """
import pathlib, sys

if "bilex.bench.cell" in sys.orig_argv:
    pathlib.Path({begun!r}).touch()
    sys.stdin.read()
    sys.exit(1)
"""
"""In a sitecustomize.py: a cell begins, and never ends unless whoever has started it does."""
KILLER = """
import os, pathlib, signal, sys

if "bilex.tune.trial_process" in sys.orig_argv:
    try:
        pathlib.Path({order!r}).unlink()
    except FileNotFoundError:
        pass
    else:
        os.kill(os.getppid(), signal.SIGKILL)
"""
"""The first trial that begins when the order is there ends the process of the cluster that has started it."""
NODE = {"object_store_memory": 80_000_000, "include_dashboard": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of the sample, cut small, the orders to nodes, and their data folder."""
    place, data = tmp_path_factory.mktemp("cluster"), sample.load("en-fr")
    data.source.head(WORDS).write(place / "x.vec")
    data.target.head(WORDS).write(place / "z.vec")
    data.train.write(place / "train.tsv")
    data.test.write(place / "test.tsv")
    return place


@pytest.fixture(scope="module")
def cluster(folder):
    """A cluster of one node with room for two cells."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patched.setenv("BILEX_DATA", str(folder / "data"))
        from ray.cluster_utils import Cluster

        own = {**NODE, "num_cpus": 2, "env_vars": _customized(folder / "killer", KILLER, order=folder / "order")}
        made = Cluster(initialize_head=True, head_node_args=own)
        yield made
        made.shutdown()


@pytest.fixture
def lost(cluster, folder):
    """A second node, all of whose cells are stuck, which is killed when the first of them is; then this file exists."""
    begun, over = folder / "begun", threading.Event()
    node = cluster.add_node(**NODE, num_cpus=1, env_vars=_customized(folder / "stuck", STUCK, begun=begun))

    def kill():
        while not begun.exists() and not over.wait(0.05):
            pass
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    yield begun
    over.set()
    killer.join()


def _customized(place, program, **paths):
    """An environment in which Python begins with a program."""
    place.mkdir()
    (place / "sitecustomize.py").write_text(program.format(**{name: str(path) for name, path in paths.items()}))
    return {"PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.filterwarnings("ignore:.*subprocess .* is still running:ResourceWarning")
def test_cells_of_a_lost_machine_are_run_elsewhere_with_the_same_results(cluster, lost, folder):
    (folder / "small.toml").write_text(SUITE)
    suite = Suite.read(folder / "small.toml")
    there = run(suite, folder / "there", cluster=cluster.address)
    here = run(suite, folder / "here", jobs=2)
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


def test_trials_whose_process_is_killed_are_begun_again_with_the_same_outcomes(cluster, folder):
    order = folder / "order"
    order.touch()
    there = _tune(folder, "trials-there", "--cluster", cluster.address, "--threads", 1)
    assert not order.exists(), "a process was killed"
    assert [row["state"] for row in there] == ["done"] * 3
    assert there == _tune(folder, "trials-here", "--threads", 1)


def _tune(folder, name, *more):
    """The trials of a search in a batch of two after the defaults, without the clock."""
    args = ["tune", folder / "x.vec", folder / "z.vec", "--train", folder / "train.tsv", "--method", "ridge"]
    args += ["--trials", 3, "--jobs", 2, "--output", folder / name, *more]
    with pytest.raises(SystemExit) as stopped:
        main([str(arg) for arg in args])
    assert stopped.value.code == 0
    with (folder / name / "trials.csv").open(newline="") as file:
        return [{key: text for key, text in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def test_room(cluster):
    with connected(cluster.address) as found:
        assert (found.room(1), found.room(2), found.room(3)) == (2, 1, 0)
        with pytest.raises(ClusterError, match="no machine has more than 2 CPUs, and 3 were asked for"):
            found._largest(3)


def test_a_machine_that_cannot_see_a_file_gets_it_once(tmp_path, monkeypatch):
    asked = []

    class Store:
        def get(self, reference):
            asked.append(reference)
            return b"contents"

    monkeypatch.setenv("BILEX_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("bilex.cluster.import_ray", Store)
    (tmp_path / "z.vec").write_text("other contents")
    for path in (tmp_path / "nowhere.vec", tmp_path / "z.vec"):
        assert _there("d1ce", path, "reference") == tmp_path / "data" / "tables" / "d1ce.vec"
    assert asked == ["reference"]
    own = sha256(tmp_path / "z.vec")
    assert _there(own, tmp_path / "z.vec", "reference") == tmp_path / "z.vec"


def test_a_cluster_that_is_not_there():
    with (
        pytest.raises(ClusterError, match=r"no Ray cluster at '127.0.0.1:1'.*ray start --head"),
        connected("127.0.0.1:1"),
    ):
        pass
