import pytest
import torch

from bilex import SettingsError
from bilex.induction import neighbours
from bilex.induction.neighbours import LEAST_JUDGED, RARE_FROM, Induced, Induction, Near, surest
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
        most = Induction(max_rank=max_rank, direction=direction).most_pairs(len(x), len(z))
        assert len(pairs) <= most if direction == "mutual" else len(pairs) == most
        cosines = x[:max_rank] @ z[:max_rank].T
        assert found.best_cosine == pytest.approx(float((cosines.amax(0).mean() + cosines.amax(1).mean()) / 2))
        torch.testing.assert_close(found.scores, scores[found.pairs[:, 0], found.pairs[:, 1]])


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


@pytest.mark.parametrize("settings", [{}, {"max_rank": 25, "candidates": 60}, {"max_rank": 25}, {"sure": "margin"}])
def test_from_neighbours_that_are_known(settings):
    """Those of all rows are of no use where only some are looked at."""
    x, z = rows(60), rows(50, rng_seed=1)
    induction = Induction(k=5, **settings)
    found = induction(x, z, torch.Generator(), Near.search(x, z, 8))
    expected = induction(x, z, torch.Generator())
    assert found.pairs.tolist() == expected.pairs.tolist()
    torch.testing.assert_close(found.scores, expected.scores)
    assert found.best_cosine == pytest.approx(expected.best_cosine)


@pytest.mark.parametrize("direction", ["forward", "backward", "mutual"])
@pytest.mark.parametrize("max_rank", [1000, 25])
def test_chance_in_tables_whose_products_are_too_many_to_be_kept(monkeypatch, direction, max_rank):
    """The same coins for the same scores; and nowhere all products."""
    x, z, best_of_some, kept = rows(60), rows(50, rng_seed=1), neighbours.best_of_some, []

    def spy(*args, matrix, **more):
        kept.append(matrix is not None)
        return best_of_some(*args, matrix=matrix, **more)

    monkeypatch.setattr(neighbours, "best_of_some", spy)
    found = []
    for most in (60 * 50, 60 * 50 - 1):
        monkeypatch.setattr(neighbours, "KEPT", most)
        found.append(induce(x, z, keep=0.4, direction=direction, max_rank=max_rank, candidates=1000))
    assert found[0].pairs.tolist() == found[1].pairs.tolist()
    torch.testing.assert_close(found[0].scores, found[1].scores)
    searches = 2 if direction == "mutual" else 1
    assert kept == [True] * searches + [False] * searches


@pytest.mark.parametrize("keep", [1.0, 0.4])
def test_what_was_near_before_changes_nothing(keep):
    x, z = rows(300), rows(250, rng_seed=1)
    other = rows(300, rng_seed=2)
    for before in (other, x + 0.1 * other, x[:200]):  # under another map; of other rows
        near = Induction(direction="union", keep=keep)(before, z, torch.Generator()).near
        found, expected = (
            Induction(direction="union", keep=keep)(x, z, torch.Generator().manual_seed(0), before=known)
            for known in (near, None)
        )
        assert torch.equal(found.pairs, expected.pairs)
        torch.testing.assert_close(found.scores, expected.scores)


def test_margin():
    x, z = rows(60), rows(50, rng_seed=1)
    scores = slow(x, z, 5)[0]
    ahead, ahead_back = (-s.topk(2).values.diff(dim=1)[:, 0] for s in (scores, scores.T))
    forward = induce(x, z, k=5, direction="forward", sure="margin")
    torch.testing.assert_close(forward.scores, ahead)
    mutual = induce(x, z, k=5, sure="margin")
    torch.testing.assert_close(mutual.scores, torch.minimum(ahead[mutual.pairs[:, 0]], ahead_back[mutual.pairs[:, 1]]))
    mean = induce(x, z, k=5, sure="mean_margin")
    assert mean.pairs.tolist() == mutual.pairs.tolist()
    torch.testing.assert_close(mean.scores, (ahead[mean.pairs[:, 0]] + ahead_back[mean.pairs[:, 1]]) / 2)
    half = induce(x, z, k=5, sure="margin", share=0.5)
    assert float(half.scores.min()) >= float(mutual.scores.median())
    for sure in ("margin", "mean_margin"):
        with pytest.raises(SettingsError, match=f"leave sure={sure} out"):
            Induction(sure=sure, keep=0.5)


def test_the_more_frequent_of_two():
    x, z = rows(60), rows(50, rng_seed=1)
    cosines = x @ z.T
    r_z = cosines.T.topk(5, dim=1).values.mean(1)
    expected = (2 * cosines - r_z - 0.3 * torch.log(torch.arange(50) + RARE_FROM)).argmax(1)
    found = induce(x, z, k=5, direction="forward", frequent=0.3).pairs
    assert found[:, 1].tolist() == expected.tolist()
    assert found.tolist() != induce(x, z, k=5, direction="forward").pairs.tolist()


def test_threshold_and_share():
    x, z = rows(60), rows(50, rng_seed=1)
    found = induce(x, z, direction="forward")
    high = induce(x, z, direction="forward", threshold=0.1)
    assert high.pairs.tolist() == found.pairs[found.scores >= 0.1].tolist()
    assert 0 < len(high.pairs) < 60
    half = induce(x, z, direction="forward", share=0.5)
    assert len(half.pairs) == 30
    assert float(half.scores.min()) >= float(found.scores.median())


def test_at_most_so_many():
    x, z = rows(60), rows(50, rng_seed=1)
    found = induce(x, z, direction="forward")
    few = induce(x, z, direction="forward", most=7)
    surest = found.scores.argsort(descending=True)[:7].sort().values
    assert few.pairs.tolist() == found.pairs[surest].tolist()
    assert torch.equal(few.scores, found.scores[surest])
    assert len(induce(x, z, direction="forward", most=7, share=0.05).pairs) == 3
    assert induce(x, z, direction="forward", most=1000).pairs.tolist() == found.pairs.tolist()


class TestSurest:
    """A hundred pairs (i, i), the surest last; of every second one dev knows whether it is right."""

    pairs = torch.arange(100).repeat(2, 1).T
    induced = Induced(pairs, torch.arange(100.0), 0.5)

    def dev(self, wrong):
        """Dev pairs after which these words have another translation."""
        dev = self.pairs[::2].clone()
        dev[torch.isin(dev[:, 0], torch.tensor(wrong)), 1] = 500
        return dev

    def test_as_many_as_are_right_often_enough(self):
        dev = self.dev(wrong=[20, 10, 8, 6, 4, 2, 0])  # 39 right, one wrong, 4 right, all others wrong
        assert surest(self.induced, dev, 1.0).tolist() == self.pairs[22:].tolist()
        assert surest(self.induced, dev, 0.95).tolist() == self.pairs[10:].tolist()
        assert surest(self.induced, dev, 0.5).tolist() == self.pairs[0:].tolist()

    def test_some_however_poor(self):
        found = surest(self.induced, self.dev(wrong=list(range(100))), 0.9)
        assert found.tolist() == self.pairs[100 - 2 * LEAST_JUDGED :].tolist()

    def test_at_least_a_share(self):
        nothing_right = self.dev(wrong=list(range(100)))
        assert surest(self.induced, nothing_right, 0.9, least=0.7).tolist() == self.pairs[30:].tolist()
        assert surest(self.induced, self.dev(wrong=[]), 0.9, least=0.7).tolist() == self.pairs.tolist()

    @pytest.mark.parametrize("dev", [None, torch.tensor([[200, 200]])])
    def test_the_share_where_nothing_is_known(self, dev):
        assert surest(self.induced, dev, 0.9, least=0.7).tolist() == self.pairs[30:].tolist()


@pytest.mark.parametrize(
    "settings",
    [
        {"max_rank": 0},
        {"k": -1},
        {"share": 0},
        {"share": 1.1},
        {"keep": 0},
        {"candidates": 9},
        {"frequent": -1},
        {"most": 0},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingsError, match="needed"):
        Induction(**settings)
