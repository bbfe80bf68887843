"""A real cluster of two Ray nodes on this machine, one of which is lost in the middle of a run, and then a process."""

import json
import os
import threading
import time
from dataclasses import replace

import pytest
import torch

from bilex import EmbeddingTable, Lexicon, sample
from bilex.bench.cell import run_task
from bilex.bench.runner import run
from bilex.bench.suite import Suite
from bilex.errors import ClusterError
from bilex.fitting.inputs import collect
from bilex.parallel.cluster import Work, _local_file, connected
from bilex.storage.files import sha256
from bilex.tune.batches import Place
from bilex.tune.search import Budget, search
from bilex.tune.space import Space
from bilex.tune.study import Study
from bilex.tune.trial import with_dev

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
settings = { start = "random", epochs = "1", hard = "8", random = "8" }
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


@pytest.fixture(autouse=True)
def _threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


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

        made = Cluster(shutdown_at_exit=True)
        _add_node(made, num_cpus=2, env_vars=_customized(folder / "killer", KILLER, order=folder / "order"))
        yield made
        made.shutdown()


@pytest.fixture
def lost(cluster, folder):
    """A second node, all of whose cells are stuck, which is killed when the first of them is; then this file exists."""
    begun, over = folder / "begun", threading.Event()
    node = _add_node(cluster, num_cpus=1, env_vars=_customized(folder / "stuck", STUCK, begun=begun))

    def kill():
        while not begun.exists() and not over.wait(0.05):
            pass
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    yield begun
    over.set()
    killer.join()


def _add_node(cluster, **own):
    """A node, the first one the head. Ray gives a node half a minute to start, which a busy machine may not have."""
    try:
        return cluster.add_node(object_store_memory=80_000_000, include_dashboard=False, **own)
    except Exception as error:
        if "timed out during startup" not in str(error):
            raise
        pytest.skip("Ray could not start a node in time: the machine has too much other work")


def _customized(place, program, **paths):
    """An environment in which Python begins with a program."""
    place.mkdir()
    (place / "sitecustomize.py").write_text(program.format(**{name: str(path) for name, path in paths.items()}))
    return {"PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.filterwarnings("ignore:.*subprocess .* is still running:ResourceWarning")
def test_cells_of_a_lost_machine_are_run_elsewhere_with_the_same_results(cluster, lost, folder, monkeypatch):
    (folder / "small.toml").write_text(SUITE)
    suite = Suite.read(folder / "small.toml")
    there = run(suite, folder / "there", cluster=cluster.address)
    monkeypatch.setattr("bilex.bench.runner.run_side_by_side", _in_this_process)
    here = run(suite, folder / "here")
    assert lost.exists()
    assert [cell.status for cell in there] == ["done"] * 3
    assert [_lasting(cell) for cell in there] == [_lasting(cell) for cell in here]


def _in_this_process(tasks, folder, *, jobs):
    for task in tasks:
        (folder / task.name).mkdir(parents=True)
        yield task, run_task(task, folder / task.name)


def _lasting(cell):
    """All but what differs from run to run."""
    found = json.loads(json.dumps(cell.to_json()))
    for name in ("seconds", "seconds_evaluation", "peak_gigabytes", "made_at"):
        del found[name]
    for record in found["trace"]:
        for name in [name for name in record if name.endswith("seconds")]:
            del record[name]
    return found


def test_trials_whose_process_is_killed_are_begun_again_with_the_same_outcomes(cluster, folder):
    order = folder / "order"
    order.touch()
    there = _search(folder, Place(jobs=2, threads=1, cluster=cluster.address, device="cpu"))
    assert not order.exists(), "a process was killed"
    assert [outcome.state for outcome in there] == ["done"] * 3
    assert there == _search(folder, Place(threads=1, device="cpu"))


def _search(folder, place):
    """The outcomes of a search in batches of two after the defaults, without the clock."""
    source, target = (EmbeddingTable.read(folder / name) for name in ("x.vec", "z.vec"))
    inputs = with_dev(collect(source, target, Lexicon.read(folder / "train.tsv"), method="ridge"))
    study = Study(folder / f"{place.jobs}.journal", Space.of("ridge", {}), kind="tpe", rng_seed=0)
    with place.ready(inputs, {}, folder / f"{place.jobs}") as batches:
        search(study, Budget(trials=3), batches.evaluate_many, batch=2)
    return [replace(outcome, seconds=0.0) for outcome in study.outcomes]


def test_work_that_fails_tells_why(cluster):
    with connected(cluster.address) as found:
        ((_, error),) = found.run(json.loads, [Work(text="{", files={}, threads=1, device="cpu")])
    assert isinstance(error, ClusterError)
    assert str(error).startswith("it failed on the cluster: ")


def test_room(cluster):
    with connected(cluster.address) as found:
        while len(found._nodes()) > 1:  # that one was lost before may not have been noticed yet
            time.sleep(0.1)
        assert (found.room(1), found.room(2), found.room(3)) == (2, 1, 0)
        with pytest.raises(ClusterError, match="no machine has more than 2 CPUs, but 3 threads are needed"):
            found._largest(3)


def test_a_machine_that_cannot_see_a_file_gets_it_once(tmp_path, monkeypatch):
    asked = []

    class Store:
        def get(self, reference):
            asked.append(reference)
            return b"contents"

    monkeypatch.setenv("BILEX_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("bilex.parallel.cluster.import_ray", Store)
    (tmp_path / "z.vec").write_text("other contents")
    for path in (tmp_path / "nowhere.vec", tmp_path / "z.vec"):
        assert _local_file("d1ce", path, "reference") == tmp_path / "data" / "tables" / "d1ce.vec"
    assert asked == ["reference"]
    own = sha256(tmp_path / "z.vec")
    assert _local_file(own, tmp_path / "z.vec", "reference") == tmp_path / "z.vec"


def test_a_cluster_of_this_machine_has_the_processors_that_are_asked_for(monkeypatch):
    begun = []

    class Ray:
        init = staticmethod(lambda **options: begun.append(options))
        shutdown = staticmethod(lambda: begun.append("ended"))

    monkeypatch.setattr("bilex.parallel.cluster.import_ray", lambda: Ray)
    with connected("local", cpus=3):
        (options,) = begun
    assert (options["address"], options["num_cpus"]) == ("local", 3)
    assert begun[1:] == ["ended"]


def test_a_cluster_that_is_not_there():
    with (
        pytest.raises(ClusterError, match=r"no Ray cluster at '127.0.0.1:1'.*ray start --head"),
        connected("127.0.0.1:1"),
    ):
        pass
