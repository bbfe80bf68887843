"""Two small languages with readable words, and the candidates of some of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bilex.rerank.candidates import BACKWARD, Candidates
from bilex.rerank.evidence import Evidence
from bilex.retrieval.sides import Sides

SOURCE = ["nation", "walk", "walking", "Paris", "station", "cat", "2020", "action", "dog", "Dog"]
TARGET = ["nation", "marcher", "marche", "Paris", "gare", "chat", "2020", "action", "chien", "chiens", "le", "Le"]
PAIRS = [(0, 0), (1, 1), (5, 5), (7, 7), (8, 8), (8, 9)]


def make_evidence(source=SOURCE, target=TARGET, pairs=PAIRS, dim=6, rng_seed=0):
    generator = torch.Generator().manual_seed(rng_seed)
    rows = (torch.randn(len(words), dim, generator=generator) for words in (source, target))
    x, z = (row / row.norm(dim=1, keepdim=True) for row in rows)
    return Evidence(words=Sides(source, target), rows=Sides(x, z), pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2))


def make_candidates(evidence, lists):
    """The candidates of each source row, in this order, with the cosines of the rows."""
    sources, targets = np.array(list(lists)), np.array(list(lists.values()))
    x, z = (rows.double().numpy() for rows in evidence.rows)
    cosines = np.einsum("qd,qcd->qc", x[sources], z[targets])
    return Candidates(
        sources=sources,
        targets=targets,
        scores=np.broadcast_to(-np.arange(targets.shape[1], dtype=np.float64), targets.shape).copy(),
        cosines=cosines,
        back_ranks=np.full(targets.shape, BACKWARD),
        back_scores=np.zeros(targets.shape),
    )


@pytest.fixture(name="make_evidence")
def make_evidence_fixture():
    return make_evidence


@pytest.fixture(name="make_candidates")
def make_candidates_fixture():
    return make_candidates


@pytest.fixture
def evidence():
    return make_evidence()
