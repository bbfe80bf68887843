import pytest
import torch

import bilex.methods.pss
from bilex.evaluation.criterion import mean_csls
from bilex.linalg.procrustes import procrustes
from bilex.methods.pss import Pss
from bilex.normalize import unit
from bilex.training.trace import Trace
from random_tensors import generator

pytest.importorskip("ot")

METHOD = Pss(epochs=3, steps=2, samples=2, sample=30, learning_rate=0.5)


def two_maps(x, z, pairs):
    """The epochs written out."""
    random, trace = generator(), Trace()
    q_2 = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
    q_1, _ = METHOD.supervise(q_2, x, z, pairs, random, trace)
    q_2, _ = METHOD.transport(q_2, x, z, random, trace, prior=q_1)
    lexicon, _ = METHOD.enlarge(q_2, x, z, pairs, random)
    q_1 = procrustes(x[lexicon[:, 0]], z[lexicon[:, 1]])
    q_1, _ = METHOD.supervise(q_1, x, z, lexicon, random, trace)
    q_2, _ = METHOD.transport(q_2, x, z, random, trace, prior=q_1)
    lexicon, _ = METHOD.enlarge(q_2, x, z, pairs, random)
    q_1, _ = METHOD.supervise(q_1, x, z, lexicon, random, trace)
    q_2, _ = METHOD.transport(q_2, x, z, random, trace, prior=q_1)
    return q_1, q_2


def test_the_better_of_two_maps(uneven):
    x, z, pairs = uneven
    maps, trace = two_maps(x, z, pairs), Trace()
    mapping = METHOD.fit(x, z, pairs, generator=generator(), trace=trace)
    scores = [mean_csls(unit(x @ q), z) for q in maps]
    told = trace.records[-1]
    assert [told["mean_csls_1"], told["mean_csls_2"]] == scores
    assert told["kept_map"] == 1 + (scores[1] > scores[0])
    assert torch.equal(mapping.source_matrix, maps[told["kept_map"] - 1])


@pytest.mark.parametrize("better", [1, 2])
def test_either_can_be_kept(uneven, monkeypatch, better):
    scores = iter([3 - better, better])
    monkeypatch.setattr(bilex.methods.pss, "mean_csls", lambda *_: next(scores))
    x, z, pairs = uneven
    mapping = METHOD.fit(x, z, pairs, generator=generator(), trace=Trace())
    assert torch.equal(mapping.source_matrix, two_maps(x, z, pairs)[better - 1])


def test_a_record_per_epoch(uneven):
    trace = Trace()
    METHOD.fit(*uneven, generator=generator(), trace=trace)
    assert [record["epoch"] for record in trace.records[:-1]] == [1, 2, 3]
    assert ["induced" in record for record in trace.records[:-1]] == [True, True, False]
    assert all({"pairs", "loss", "cosine"} <= record.keys() for record in trace.records[:-1])
