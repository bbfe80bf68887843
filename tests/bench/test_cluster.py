"""A real cluster of two Ray nodes on this machine, one of which is lost in the middle of a run."""

import threading
import time

import pytest

from bilex.bench.runner import run
from bilex.bench.suite import Suite
from bilex.errors import SuiteError

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

SUITE = """
title = "Small"

[directions.en-fr]
sample = "en-fr"
max_words = 1500

[defaults]
rng_seeds = [0, 1]

[[systems]]
method = "procrustes"

[[systems]]
method = "rapo"
settings = { epochs = "2", batch = "512", start = "procrustes" }
"""


@pytest.fixture
def cluster(monkeypatch):
    """A cluster with one node that has room for a cell."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 80_000_000})
    yield made
    made.shutdown()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_run_that_loses_a_node_gives_what_the_local_run_gives(write, tmp_path, cluster):
    suite = Suite.read(write(SUITE))
    begun = tmp_path / "second-node"
    begun.mkdir()
    second = cluster.add_node(num_cpus=1, object_store_memory=80_000_000, env_vars={"TMPDIR": str(begun)})
    killer = threading.Thread(target=_lose, args=(cluster, second, begun))
    killer.start()
    there = run(suite, tmp_path / "there", cluster=cluster.address)
    killer.join()
    here = run(suite, tmp_path / "here")
    assert [cell.status for cell in here] == ["done"] * 4
    for one, other in zip(here, there, strict=True):
        assert _lasting(one) == _lasting(other)


def _lose(cluster, node, folder):
    """Kill a node as soon as a cell has begun on it."""
    while not list(folder.glob("bilex-*/*/log.txt")):
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)


def _lasting(cell):
    """All but what differs from run to run."""
    found = cell.to_json()
    for name in ("seconds", "seconds_evaluation", "peak_gigabytes", "made_at"):
        del found[name]
    for record in found["trace"]:
        record.pop("seconds", None)
    return found


def test_a_cluster_that_is_not_there(small, tmp_path):
    with pytest.raises(SuiteError, match="no Ray cluster at '127.0.0.1:1'.*ray start --head"):
        run(Suite.read(small), tmp_path / "results", cluster="127.0.0.1:1")
