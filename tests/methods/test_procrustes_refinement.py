import numpy as np
import pytest
import torch

from bilex import AlignmentError, SettingsError, get_method
from bilex.methods import procrustes_refinement
from bilex.training.trace import Trace

FAITHFUL = {"normalize": "", "keep_dictionary": "false", "choose": "false"}


def fit(x, z, pairs, *, dev=None, trace=None, **settings):
    method = get_method("procrustes_refinement", FAITHFUL | settings)
    return method.fit(x, z, pairs, dev=dev, generator=torch.Generator(), trace=trace or Trace())


@pytest.fixture(scope="module")
def tables():
    """Rows of unequal length, so that it matters which ones Procrustes sees; few pairs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 12)) * rng.uniform(0.2, 3, (150, 1))
    z = x[:140] @ np.linalg.qr(rng.normal(size=(12, 12)))[0] + 0.6 * rng.normal(size=(140, 12))
    return x, z, np.stack([np.arange(14), np.arange(14)], 1)


def procrustes(x, z, pairs):
    u, _, vt = np.linalg.svd(x[pairs[:, 0]].T @ z[pairs[:, 1]])
    return u @ vt


def csls(x, z, k=10):
    x, z = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, z))
    cosines = x @ z.T
    r_x, r_z = (np.sort(c, axis=1)[:, -k:].mean(1) for c in (cosines, cosines.T))
    return cosines, 2 * cosines - r_x[:, None] - r_z


def slowly(x, z, pairs, rounds, max_rank):
    """The map, the number of pairs and the criterion of each round, on whole matrices."""
    made = []
    for _ in range(rounds + 1):
        w = procrustes(x, z, pairs)
        cosines, scores = csls(x @ w, z)
        there, back = scores.argmax(1), scores.argmax(0)
        made.append((w, len(pairs), np.mean([cosines[i, j] for i, j in enumerate(there)])))
        pairs = np.array([(i, j) for i, j in enumerate(there) if back[j] == i and max(i, j) < max_rank])
    return made


@pytest.mark.parametrize("max_rank", [1000, 60])
def test_as_on_whole_matrices(tables, max_rank):
    trace = Trace()
    mapping = fit(*map(torch.from_numpy, tables), trace=trace, **{"induction.max_rank": str(max_rank)})
    made = slowly(*tables, 5, max_rank)
    *rounds, last = trace.records
    assert [record["pairs"] for record in rounds] == [pairs for _, pairs, _ in made]
    assert [record["mean_cosine"] for record in rounds] == pytest.approx([cosine for _, _, cosine in made])
    best = int(np.argmax([cosine for _, _, cosine in made]))
    assert last["kept_round"] == best > 0
    np.testing.assert_allclose(mapping.source_matrix.numpy(), made[best][0], atol=1e-9)


def test_the_round_of_the_highest_mean_cosine_is_kept(tables, monkeypatch):
    told = iter([0.3, 0.5, 0.7, 0.7, 0.1])
    seen = []

    def criterion(x, z, neighbours):
        seen.append(x)
        return next(told)

    monkeypatch.setattr(procrustes_refinement, "translated_cosine", criterion)
    x, z, pairs = map(torch.from_numpy, tables)
    trace = Trace()
    mapping = fit(x, z, pairs, trace=trace, rounds="4")
    assert trace.records[-1]["kept_round"] == 2
    torch.testing.assert_close(torch.nn.functional.normalize(mapping.source(x)), seen[2])


def choosing(tables, monkeypatch, told):
    """The mapping, the maps and the trace where dev says these values in turn."""
    seen, told = [], iter(told)

    def ranks(x, z, dev, **_):
        seen.append(x)
        return torch.full((len(dev),), next(told), dtype=torch.float64)

    monkeypatch.setattr(procrustes_refinement, "reciprocal_ranks", ranks)
    x, z, pairs = map(torch.from_numpy, tables)
    trace, dev = Trace(), pairs[10:]
    settings = {"keep_dictionary": "true", "choose": "true", "min_dev_words": "4", "rounds": "2"}
    return fit(x, z, pairs[:10], dev=dev, trace=trace, **settings), seen, trace


def test_dev_chooses_the_round_and_is_learnt_in_the_end(tables, monkeypatch):
    x, z, pairs = tables
    mapping, _, trace = choosing(tables, monkeypatch, [0.3, 0.2, 0.3])
    np.testing.assert_allclose(mapping.source_matrix.numpy(), procrustes(x, z, pairs), atol=1e-9)
    assert [record.get("dev_mrr") for record in trace.records[:3]] == [0.3, 0.2, 0.3]
    assert (trace.records[3]["kept_round"], trace.records[4]["words"]) == (0, 4)


def test_the_dictionary_is_kept_in_all_rounds(tables, monkeypatch):
    x, z, pairs = tables
    mapping, seen, _ = choosing(tables, monkeypatch, [0.1, 0.2, 0.1])
    _, scores = csls(seen[0].numpy(), z)
    there, back = scores.argmax(1), scores.argmax(0)
    mutual = [(i, j) for i, j in enumerate(there) if back[j] == i]
    learnt = np.array([*pairs[:10].tolist(), *(pair for pair in mutual if pair[0] >= 10)])
    w = procrustes(x, z, learnt)
    np.testing.assert_allclose(seen[1].numpy(), x @ w / np.linalg.norm(x, axis=1, keepdims=True), atol=1e-9)
    final = np.array([*pairs.tolist(), *(pair for pair in mutual if pair[0] >= 14)])
    np.testing.assert_allclose(mapping.source_matrix.numpy(), procrustes(x, z, final), atol=1e-9)


def test_few_dev_words_are_learnt_at_once(tables):
    x, z, pairs = map(torch.from_numpy, tables)
    one = fit(x, z, pairs[:10], dev=pairs[10:], choose="true", min_dev_words="5")
    other = fit(x, z, pairs)
    assert torch.equal(one.source_matrix, other.source_matrix)


def test_no_rounds_is_procrustes_on_rows_as_they_are(tables):
    mapping = fit(*map(torch.from_numpy, tables), rounds="0")
    np.testing.assert_allclose(mapping.source_matrix.numpy(), procrustes(*tables), atol=1e-9)


def test_no_pairs_are_said(tables):
    with pytest.raises(AlignmentError, match="round 0 of procrustes_refinement found no pairs"):
        fit(*map(torch.from_numpy, tables), **{"induction.threshold": "9"})


def test_bad_settings_are_refused():
    with pytest.raises(SettingsError, match="rounds=-1; needed at least 0"):
        get_method("procrustes_refinement", {"rounds": "-1"})
