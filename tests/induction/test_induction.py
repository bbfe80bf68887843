import pytest
import torch

from bilex import SettingsError
from bilex.induction import induction as module
from bilex.induction.induction import RANK_OFFSET, Induction
from bilex.induction.neighbours import NearestNeighbours
from bilex.normalize import unit


def rows(n, rng_seed=0):
    return unit(torch.randn(n, 6, generator=torch.Generator().manual_seed(rng_seed), dtype=torch.float64))


def induce(x, z, **settings):
    return Induction(**settings)(x, z, torch.Generator().manual_seed(0))


def slow(x, z, k):
    """All CSLS scores, and the best of each row and column."""
    cosines = x @ z.T
    r_x, r_z = (c.topk(k, dim=1).values.sum(1) / max(1, k) for c in (cosines, cosines.T))
    scores = 2 * cosines - r_x[:, None] - r_z
    return scores, scores.argmax(1).tolist(), scores.argmax(0).tolist()


@pytest.mark.parametrize("k", [5, 0])
@pytest.mark.parametrize("max_rank", [1000, 25])
def test_every_direction(max_rank, k):
    x, z = rows(60), rows(50, rng_seed=1)
    scores, targets, sources = slow(x[:max_rank], z[:max_rank], k)
    forward, backward = list(enumerate(targets)), [(i, j) for j, i in enumerate(sources)]
    expected = {
        "forward": forward,
        "backward": backward,
        "union": forward + backward,
        "mutual": [pair for pair in forward if pair in backward],
    }
    for direction, pairs in expected.items():
        found = induce(x, z, max_rank=max_rank, k=k, direction=direction)
        assert list(map(tuple, found.pairs.tolist())) == pairs
        most = Induction(max_rank=max_rank, direction=direction).possible_pairs(len(x), len(z))
        assert len(pairs) <= most if direction == "mutual" else len(pairs) == most
        cosines = x[:max_rank] @ z[:max_rank].T
        assert found.best_cosine == pytest.approx(float((cosines.amax(0).mean() + cosines.amax(1).mean()) / 2))
        torch.testing.assert_close(found.confidence, scores[found.pairs[:, 0], found.pairs[:, 1]])


def test_more_candidates_than_words_looked_at():
    x, z = rows(60), rows(50, rng_seed=1)
    _, targets, sources = slow(x[:45], z[:45], 5)
    forward, backward = list(enumerate(targets[:25])), [(i, j) for j, i in enumerate(sources[:25])]
    expected = {
        "forward": forward,
        "backward": backward,
        "union": forward + backward,
        "mutual": [(i, j) for i, j in forward if sources[j] == i],
    }
    for direction, pairs in expected.items():
        found = induce(x, z, max_rank=25, candidates=45, k=5, direction=direction).pairs
        assert list(map(tuple, found.tolist())) == pairs
        within = induce(x, z, max_rank=25, candidates=45, beyond=False, k=5, direction=direction).pairs
        assert list(map(tuple, within.tolist())) == [pair for pair in pairs if max(pair) < 25]


@pytest.mark.parametrize(
    "settings", [{}, {"max_rank": 25, "candidates": 60}, {"max_rank": 25}, {"confidence": "margin"}]
)
def test_from_neighbours_that_are_known(settings):
    """Those of all rows are of no use where only some are looked at."""
    x, z = rows(60), rows(50, rng_seed=1)
    induction = Induction(k=5, **settings)
    found = induction(x, z, torch.Generator(), NearestNeighbours.search(x, z, 8))
    expected = induction(x, z, torch.Generator())
    assert found.pairs.tolist() == expected.pairs.tolist()
    torch.testing.assert_close(found.confidence, expected.confidence)
    assert found.best_cosine == pytest.approx(expected.best_cosine)


@pytest.mark.parametrize("direction", ["forward", "backward", "mutual"])
@pytest.mark.parametrize("max_rank", [1000, 25])
def test_dropout_in_tables_with_too_many_products_to_cache(monkeypatch, direction, max_rank):
    """The same scores are dropped; and nowhere are all products made."""
    x, z, best_with_dropout, kept = rows(60), rows(50, rng_seed=1), module.best_with_dropout, []

    def spy(*args, matrix, **more):
        kept.append(matrix is not None)
        return best_with_dropout(*args, matrix=matrix, **more)

    monkeypatch.setattr(module, "best_with_dropout", spy)
    found = []
    for most in (60 * 50, 60 * 50 - 1):
        monkeypatch.setattr(module, "MAX_CACHED_PRODUCTS", most)
        found.append(induce(x, z, keep_probability=0.4, direction=direction, max_rank=max_rank, candidates=1000))
    assert found[0].pairs.tolist() == found[1].pairs.tolist()
    torch.testing.assert_close(found[0].confidence, found[1].confidence)
    searches = 2 if direction == "mutual" else 1
    assert kept == [True] * searches + [False] * searches


@pytest.mark.parametrize("keep", [1.0, 0.4])
def test_a_warm_start_changes_nothing(keep):
    x, z = rows(300), rows(250, rng_seed=1)
    other = rows(300, rng_seed=2)
    for before in (other, x + 0.1 * other, x[:200]):  # under another map; of other rows
        near = Induction(direction="union", keep_probability=keep)(before, z, torch.Generator()).neighbours
        found, expected = (
            Induction(direction="union", keep_probability=keep)(
                x, z, torch.Generator().manual_seed(0), warm_start=known
            )
            for known in (near, None)
        )
        assert torch.equal(found.pairs, expected.pairs)
        torch.testing.assert_close(found.confidence, expected.confidence)


def test_margin():
    x, z = rows(60), rows(50, rng_seed=1)
    scores = slow(x, z, 5)[0]
    ahead, ahead_back = (-s.topk(2).values.diff(dim=1)[:, 0] for s in (scores, scores.T))
    forward = induce(x, z, k=5, direction="forward", confidence="margin")
    torch.testing.assert_close(forward.confidence, ahead)
    mutual = induce(x, z, k=5, confidence="margin")
    torch.testing.assert_close(
        mutual.confidence, torch.minimum(ahead[mutual.pairs[:, 0]], ahead_back[mutual.pairs[:, 1]])
    )
    mean = induce(x, z, k=5, confidence="mean_margin")
    assert mean.pairs.tolist() == mutual.pairs.tolist()
    torch.testing.assert_close(mean.confidence, (ahead[mean.pairs[:, 0]] + ahead_back[mean.pairs[:, 1]]) / 2)
    half = induce(x, z, k=5, confidence="margin", share=0.5)
    assert float(half.confidence.min()) >= float(mutual.confidence.median())
    for confidence in ("margin", "mean_margin"):
        with pytest.raises(SettingsError, match=f"leave confidence={confidence} out"):
            Induction(confidence=confidence, keep_probability=0.5)


def test_the_more_frequent_of_two():
    x, z = rows(60), rows(50, rng_seed=1)
    cosines = x @ z.T
    r_z = cosines.T.topk(5, dim=1).values.mean(1)
    expected = (2 * cosines - r_z - 0.3 * torch.log(torch.arange(50) + RANK_OFFSET)).argmax(1)
    found = induce(x, z, k=5, direction="forward", rank_penalty=0.3).pairs
    assert found[:, 1].tolist() == expected.tolist()
    assert found.tolist() != induce(x, z, k=5, direction="forward").pairs.tolist()


def test_threshold_and_share():
    x, z = rows(60), rows(50, rng_seed=1)
    found = induce(x, z, direction="forward")
    high = induce(x, z, direction="forward", threshold=0.1)
    assert high.pairs.tolist() == found.pairs[found.confidence >= 0.1].tolist()
    assert 0 < len(high.pairs) < 60
    half = induce(x, z, direction="forward", share=0.5)
    assert len(half.pairs) == 30
    assert float(half.confidence.min()) >= float(found.confidence.median())


def test_at_most_so_many():
    x, z = rows(60), rows(50, rng_seed=1)
    found = induce(x, z, direction="forward")
    few = induce(x, z, direction="forward", max_pairs=7)
    best = found.confidence.argsort(descending=True)[:7].sort().values
    assert few.pairs.tolist() == found.pairs[best].tolist()
    assert torch.equal(few.confidence, found.confidence[best])
    assert len(induce(x, z, direction="forward", max_pairs=7, share=0.05).pairs) == 3
    assert induce(x, z, direction="forward", max_pairs=1000).pairs.tolist() == found.pairs.tolist()


@pytest.mark.parametrize(
    "settings",
    [
        {"max_rank": 0},
        {"k": -1},
        {"share": 0},
        {"share": 1.1},
        {"keep_probability": 0},
        {"candidates": 9},
        {"rank_penalty": -1},
        {"max_pairs": 0},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingsError, match="needed"):
        Induction(**settings)
