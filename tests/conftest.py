"""Fixtures for all tests: two small artificial languages with a dictionary, damaged arrays, and `bilex explore`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings

from bilex.lexicon import Lexicon
from bilex.table import EmbeddingTable

# The same examples in every run. HYPOTHESIS_PROFILE=default searches for new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

ALLOWED_SKIPS = {
    "BILEX_SHARED": "data that only some machines have",
    "no IPv6 here": "depends on the machine's network",
}
"""Texts in skip reasons that are allowed even if BILEX_NO_SKIPS is set, as in CI, because nothing can be installed."""


def pytest_make_parametrize_id(val, argname):
    """Number binary parameters: they may contain the time, and parallel test processes need the same test names."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _without_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _without_skip((yield))


def _without_skip(report):
    """The report of a test or a file. If BILEX_NO_SKIPS is set, a skip is a failure."""
    if os.environ.get("BILEX_NO_SKIPS") and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2]
        if not any(allowed in reason for allowed in ALLOWED_SKIPS):
            report.outcome = "failed"
            report.longrepr = f"{reason}; but BILEX_NO_SKIPS is set: install what it needs"
    return report


@pytest.fixture(autouse=True, scope="session")
def no_timing_of_the_processor():
    """Choose low precision by what the processor has, not by how fast it is at the moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bilex.search.speedup.speedup", lambda kind: {"Int8": 4.0, "Bfloat16": 2.0}[kind.__name__])
        yield


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_the_disk():
    """Make fsync do nothing. No test needs data to survive a power failure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def damages():
    """Damaged versions of an array, each with a name. The version is None if the array is missing."""
    return damaged_arrays


def damaged_arrays(array):
    import torch

    yield "missing", None
    yield "rank", array[None].contiguous()
    yield "type", array.to(torch.complex64)
    if array.is_floating_point():
        for number in ("nan", "inf"):
            damaged = array.clone().reshape(-1)
            if damaged.numel():
                damaged[-1] = float(number)
                yield number, damaged.reshape(array.shape)
        yield "huge", torch.full_like(array, 3e38)
        yield "double", torch.full_like(array, 1e300, dtype=torch.float64)
    else:
        yield "far", array + 2**30
        yield "negative", -1 - array
    if array.ndim:
        yield "shorter", array[:-1].contiguous()
        yield "empty", array[:0].contiguous()
        yield "longer", torch.cat([array, array[:1]])
        yield "narrower", array[..., :1].contiguous()


@pytest.fixture(scope="session")
def peak_bytes():
    """Peak memory that torch allocates during a call, in bytes."""
    from torch.profiler import ProfilerActivity, profile

    def measure(call):
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
            call()
        events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
        allocated = peak = 0
        for event in sorted(events, key=lambda event: event.start_ns()):
            allocated += event.nbytes()
            peak = max(peak, allocated)
        return peak

    return measure


class World(NamedTuple):
    """Two tables, a train lexicon and a test lexicon. The lexicons share no source word."""

    source: EmbeddingTable
    target: EmbeddingTable
    train: Lexicon
    test: Lexicon


def make_world(*, words: int = 160, dim: int = 12, noise: float = 0.0, rng_seed: int = 0) -> World:
    """Target row order[i] is source row i, rotated, plus noise. Half of the pairs are for training, half for testing.

    The rows are in order of frequency, which differs a little between the languages.
    """
    rng = np.random.default_rng(rng_seed)
    x = rng.standard_normal((words, dim))
    rotation = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    order = np.argsort(np.argsort(np.arange(words) + rng.uniform(0, words / 5, words)))
    z = np.empty_like(x)
    z[order] = x @ rotation + noise * rng.standard_normal(x.shape)
    pairs = [(f"s{i}", f"t{order[i]}") for i in range(words)]
    return World(
        EmbeddingTable([f"s{i}" for i in range(words)], x.astype(np.float32)),
        EmbeddingTable([f"t{i}" for i in range(words)], z.astype(np.float32)),
        Lexicon.from_pairs(pairs[: words // 2]),
        Lexicon.from_pairs(pairs[words // 2 :]),
    )


@pytest.fixture(scope="session")
def exact() -> World:
    """A world without noise: an exact rotation."""
    return make_world()


@pytest.fixture(scope="session")
def world() -> World:
    """A world with enough noise that some translations are wrong."""
    return make_world(noise=0.5, rng_seed=1)


def make_alike_world(*, words: int = 500, dim: int = 20, noise: float = 0.9, rng_seed: int = 0) -> World:
    """Two languages with noisy vectors. Two of three words are spelt alike, but for an ending.

    Four fifths of the pairs are for training, enough for a second stage, to which the spelling says most.
    """
    rng = np.random.default_rng(rng_seed)
    x = rng.standard_normal((words, dim))
    z = x @ np.linalg.qr(rng.standard_normal((dim, dim)))[0] + noise * rng.standard_normal(x.shape)
    stems = ["".join(rng.choice(list("abcdefghijklmnop"), 8)) for _ in range(words)]
    source = [f"{stem}e" for stem in stems]
    target = [f"{stem if i % 3 else stem[::-1]}um" for i, stem in enumerate(stems)]
    pairs = list(zip(source, target, strict=True))
    return World(
        EmbeddingTable(source, x.astype(np.float32)),
        EmbeddingTable(target, z.astype(np.float32)),
        Lexicon.from_pairs(pair for i, pair in enumerate(pairs) if i % 5),
        Lexicon.from_pairs(pairs[::5]),
    )


@pytest.fixture(scope="session")
def alike() -> World:
    """A world in which words are spelt alike."""
    return make_alike_world()


@pytest.fixture(scope="session")
def reranked(alike):
    """An alignment with a second stage."""
    from bilex import align

    return align(alike.source, alike.target, alike.train, method="procrustes")


@pytest.fixture(scope="session")
def alignment(world):
    """An alignment of the noisy world. All tests share it: a test that changes an alignment must make its own."""
    from bilex import align

    return align(world.source, world.target, world.train, method="procrustes")


class Explored(NamedTuple):
    """A running `bilex explore` process, and the address of its page."""

    process: subprocess.Popen
    url: str

    def end(self, signal):
        """Exit code, standard output and standard error of the process after it was sent the signal."""
        self.process.send_signal(signal)
        with limited(self.process):
            out, err = self.process.communicate()
        return self.process.returncode, out, err


@contextmanager
def limited(process, seconds=300):
    """Kill a process that hangs, so that the test fails. Normally nothing takes this long."""
    killer = threading.Timer(seconds, process.kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()


@contextmanager
def start_explore(run, *options):
    """Run `bilex explore` on a run folder, on any free port."""
    command = [sys.executable, "-m", "bilex", "explore", run, "--port", "0", "--no-open", "--json", *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)
    try:
        with limited(process):
            line = process.stdout.readline()
        yield Explored(process, json.loads(line)["url"])
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def exploring():
    """Context manager that runs `bilex explore` on a run folder."""
    return start_explore


@pytest.fixture
def explore(exploring):
    """Start `bilex explore` on a run folder. It is stopped at the end of the test."""
    with ExitStack() as started:
        yield lambda *args: started.enter_context(exploring(*args))
