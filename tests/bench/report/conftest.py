"""Made-up results: cells of which only what a test is about has to be said."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from bilex.bench.report.ordered_results import make_grid
from bilex.bench.results import Cell

BANDS = ((0, 999), (1000, 4999), (5000, 19999))
HOSTILE = """_<script>alert("x")</script> & 'q' | $x_1$ % # {y} \\ [z](http://evil.example) *b*"""


def scores_of(ranks, rows, sources):
    """As `Evaluation.to_json` has them."""
    ranks, rows = np.array(ranks), np.array(rows)

    def over(found, n, tail=""):
        shares = {f"p_at_{k}{tail}": 100 * float((found <= k).sum()) / n for k in (1, 5, 10)}
        return {**shares, f"mrr{tail}": float((1 / found).sum()) / n}

    bands = []
    for first, last in BANDS:
        here = ranks[(rows >= first) & (rows <= last)]
        if len(here):
            bands.append({"first": first, "last": last, "covered": len(here), **over(here, len(here))})
    return {
        "direction": "forward",
        "retrieval": "csls",
        **over(ranks, len(ranks)),
        "covered": len(ranks),
        "sources": sources,
        "coverage": 100 * len(ranks) / sources,
        **over(ranks, sources, "_all"),
        "train_overlap": 0,
        "bands": bands,
    }


def provenance(method, resolved, direction, train=5000):
    """The parts of `Alignment.provenance` that a report reads."""
    source, target = direction.split("-")

    def table(name):
        return {"file": f"/home/somebody/secret/{name}.vec", "sha256": name * 32, "words": 20000, "dim": 300}

    return {
        "inputs": {
            "method": method,
            "settings": resolved,
            "source": table(source),
            "target": table(target),
            "train": {"file": None, "sha256": None, "pairs": train},
            "dev": None,
        },
        "train_coverage": {"name": "/home/somebody/t", "missing_source": {"pairs": 1, "words": ["secretword"]}},
        "made_with": {"bilex": "0.1.0", "torch": "2.13.0", "python": "3.11.7", "platform": "Linux", "threads": 1},
    }


def cell(system="procrustes", direction="en-fr", rng_seed=0, *, right=(), words=40, resolved=None, train=5000, **more):
    """A cell that has the first words wrong and those whose numbers are in `right` right."""
    ranks = [1 if i in set(right) else 3 for i in range(words)]
    rows = [i * 400 for i in range(words)]
    done = more.get("status", "done") == "done"
    method = more.get("method", system.split(",")[0].split()[0])
    made = {
        "suite": "made-up",
        "system": system,
        "method": method,
        "settings": {},
        "direction": direction,
        "rng_seed": rng_seed,
        "pairs": None,
        "protocol": "honest",
        "key": hashlib.sha256(f"{system!a} {direction} {rng_seed}".encode()).hexdigest(),
        "status": "done",
        "error": None,
        "scores": scores_of(ranks, rows, words + 10) if done else None,
        "ranks": ranks if done else None,
        "rows": rows if done else None,
        "words_sha256": f"{direction} {words}" if done else None,
        "seconds": 2.5,
        "seconds_evaluation": 0.5,
        "peak_gigabytes": 0.75,
        "threads": 1,
        "trace": [],
        "provenance": provenance(method, resolved or {}, direction, train) if done else None,
        "made_at": "2026-01-01T00:00:00+00:00",
    }
    made |= more
    return Cell(**{**made, **{name: tuple(made[name] or ()) for name in ("ranks", "rows", "trace")}})


def write_folder(folder, cells, suite=None):
    """Results as `bilex bench run` leaves them."""
    (folder / "cells").mkdir(parents=True)
    for i, made in enumerate(cells):
        (folder / "cells" / f"{i}.json").write_text(json.dumps(made.to_json()), encoding="utf-8")
    if suite is not None:
        (folder / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    return folder


SUITE = {
    "name": "made-up",
    "title": "A made-up suite",
    "notes": "Nothing here was measured.",
    "systems": [{"label": "procrustes"}, {"label": "vecmap"}, {"label": "rapo"}, {"label": "adversarial"}],
    "directions": ["en-fr", "en-fi"],
}


def mixed_cells():
    """Three systems that are complete, rapo with three seeds and best on en-fr, and one that fails."""
    epochs = [{"epoch": i, "dev": 0.5 + i / 100, "loss": 1.0} for i in range(4)]
    return [
        cell("procrustes", "en-fr", right=range(10)),
        cell("procrustes", "en-fi", right=range(20)),
        cell("vecmap", "en-fr", right=range(12)),
        cell("vecmap", "en-fi", right=range(21)),
        *(cell("rapo", "en-fr", i, right=range(30 + i), trace=epochs, seconds=60.0) for i in range(3)),
        *(cell("rapo", "en-fi", i, right=range(20), trace=epochs, seconds=90.0) for i in range(3)),
        cell("adversarial", "en-fr", 0, right=range(11)),
        cell("adversarial", "en-fr", 1, status="failed", error="its pairs do not agree"),
        cell("adversarial", "en-fi", 0, status="failed", error="its pairs do not agree"),
        cell("adversarial", "en-fi", 1, status="error", error="killed by signal 9"),
    ]


@pytest.fixture(name="cell")
def _cell():
    return cell


@pytest.fixture
def grid_of():
    """A grid of cells."""
    return lambda *cells, **suite: make_grid(list(cells), suite)


@pytest.fixture
def mixed():
    """The grid of the mixed cells."""
    return make_grid(mixed_cells(), SUITE)


@pytest.fixture
def folder_of(tmp_path):
    """A folder of cells."""
    return lambda *cells, suite=None: write_folder(tmp_path / "results", cells, suite)


@pytest.fixture
def folder(folder_of):
    """A folder of the mixed cells."""
    return folder_of(*mixed_cells(), suite=SUITE)


@pytest.fixture
def hostile():
    """A name that wants to be something else in every format."""
    return HOSTILE
