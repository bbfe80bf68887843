"""Few queries, answered from a part of the penalties, against the same answers from all of them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bilex.normalize import unit
from bilex.retrieval import CSLS, InvertedSoftmax, Nearest, base
from bilex.retrieval import partial_penalties as partial
from bilex.search import clusters

DIRECTIONS = ["forward", "backward"]
SETTINGS = [(base, "FEWEST", 0), (base, "MOST", 1.0), (partial, "MOST", 1.0), (clusters, "SIZE", 15)]


def use_parts(patch):
    """Parts of the penalties even in small tables, and however many are wanted."""
    for where, name, value in SETTINGS:
        patch.setattr(where, name, value)


@pytest.fixture(autouse=True)
def _parts(monkeypatch):
    use_parts(monkeypatch)


def table(rows, rng_seed, *, d=16):
    return torch.randn(rows, d, generator=torch.Generator().manual_seed(rng_seed))


def topics(rows, rng_seed):
    centres = table(25, 77)
    which = torch.randint(0, 25, (rows,), generator=torch.Generator().manual_seed(rng_seed))
    return centres[which] + 0.5 * table(rows, rng_seed)


def repeated(rows, rng_seed):
    """Rows that are there several times: ties to the last bit, of scores and among the neighbours."""
    which = torch.randint(0, rows // 6, (rows,), generator=torch.Generator().manual_seed(rng_seed))
    return table(rows // 6, 3)[which]


def zeros_between(rows, rng_seed):
    made = table(rows, rng_seed)
    made[::5] = 0
    return made


KINDS = {
    "random": table,
    "topics": topics,
    "repeated": repeated,
    "hubs": lambda rows, rng_seed: table(rows, rng_seed) + 0.5,
    "one great hub": lambda rows, rng_seed: torch.cat([torch.ones(1, 16), table(rows - 1, rng_seed) + 0.3]),
    "all equal": lambda rows, _: torch.ones(rows, 16),
    "zeros between": zeros_between,
    "two dimensions": lambda rows, rng_seed: table(rows, rng_seed, d=2),
}


def both(x, z, retrieval=None):
    """An index that computes parts, and one that has all penalties."""
    retrieval = retrieval or CSLS()
    whole = retrieval.index(x, z)
    for side in ("source", "target"):
        whole.penalty(side)
    return retrieval.index(x, z), whole


def assert_same(found, expected):
    assert torch.equal(found.indices, expected.indices)
    assert torch.equal(found.values, expected.values)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", KINDS)
class TestSameAsWithAllPenalties:
    @pytest.mark.parametrize("n", [1, 10, 1000])
    def test_topk(self, kind, direction, n):
        x, z = KINDS[kind](240, 0), KINDS[kind](310, 1)
        few, whole = both(x, z)
        queries = (x if direction == "forward" else z)[20:33]
        assert_same(few.topk(queries, n, direction), whole.topk(queries, n, direction))
        assert not few.penalties or n == 1000 or kind == "all equal"

    def test_topk_of_some_candidates_and_known_rows(self, kind, direction):
        x, z = KINDS[kind](240, 0), KINDS[kind](310, 1)
        few, whole = both(x, z)
        rows = torch.tensor([7, 200, 7])
        queries = (few.x if direction == "forward" else few.z)[rows]
        more = {"first": 50, "rows": rows}
        assert_same(few.topk(queries, 5, direction, **more), whole.topk(queries, 5, direction, **more))

    def test_ranks(self, kind, direction):
        x, z = KINDS[kind](240, 0), KINDS[kind](310, 1)
        few, whole = both(x, z)
        queries = (x if direction == "forward" else z)[:30]
        gold = torch.randint(0, 240, (30, 3), generator=torch.Generator().manual_seed(4))
        gold[::2, 1:] = -1
        gold[5] = -1  # no gold candidate at all
        assert torch.equal(few.ranks(queries, gold, direction), whole.ranks(queries, gold, direction))

    def test_one_after_the_other(self, kind, direction):
        x, z = KINDS[kind](240, 0), KINDS[kind](310, 1)
        few, whole = both(x, z)
        queries = x if direction == "forward" else z
        for row in (3, 100, 3, 239):
            assert_same(few.topk(queries[[row]], 4, direction), whole.topk(queries[[row]], 4, direction))
        side = "target" if direction == "forward" else "source"
        assert torch.equal(few.penalty(side), whole.penalty(side))  # the rest of them


def test_ranks_of_more_queries_than_a_block_has():
    """The first block of six has its best candidates to look for, the others have candidates in the middle."""
    x, z = table(240, 0), table(310, 1)
    few, whole = (CSLS().index(x, z, budget=4 * 6 * 4 * len(z)) for _ in range(2))
    whole.penalty("target")
    order = whole.topk(x[:30], len(z)).indices
    gold = torch.cat([order[:6, :1], order[6:, 100:101]])
    expected = torch.tensor([1] * 6 + [101] * 24)
    assert torch.equal(whole.ranks(x[:30], gold), expected)
    assert torch.equal(few.ranks(x[:30], gold), expected)


@st.composite
def searches(draw):
    """Tables of any shape with repeated rows and hubs, k and n of any size."""
    rng_seed, d = draw(st.integers(0, 2**32)), draw(st.integers(2, 20))
    generator = torch.Generator().manual_seed(rng_seed)
    pool = torch.randn(draw(st.integers(5, 200)), d, generator=generator) + draw(st.sampled_from([0, 0.5, 2]))
    x, z = (pool[torch.randint(0, len(pool), (draw(st.integers(1, 200)),), generator=generator)] for _ in range(2))
    if draw(st.booleans()):
        z = z + 0.05 * torch.randn(z.shape, generator=generator)
    queries = x[torch.randint(0, len(x), (draw(st.integers(1, 12)),), generator=generator)]
    gold = torch.randint(0, len(z), (len(queries), 2), generator=generator)
    return x, z, queries, gold, draw(st.sampled_from([1, 3, 10, 500])), draw(st.sampled_from([1, 2, 10, 500]))


@given(searches(), st.sampled_from(["real", "useless", "exact"]), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=60, deadline=None)
def test_same_for_all_tables_and_whatever_the_bounds(search, bounds, most):
    x, z, queries, gold, k, n = search
    few, whole = both(x, z, CSLS(k=k))
    with pytest.MonkeyPatch.context() as patch:
        use_parts(patch)
        patch.setattr(partial, "MOST", most)
        if bounds == "useless":
            patch.setattr(
                CSLS, "bounds", lambda self, candidates, *_, **__: candidates.new_full((len(candidates),), -1.1)
            )
        if bounds == "exact":
            patch.setattr(CSLS, "bounds", lambda self, *tables, budget: self.penalty(*tables, budget=budget))
        assert torch.equal(few.ranks(queries, gold), whole.ranks(queries, gold))
        assert_same(few.topk(queries, n), whole.topk(queries, n))


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_below_the_penalties(kind, k):
    x, z = unit(KINDS[kind](240, 0)), unit(KINDS[kind](310, 1))
    bounds, penalties = (compute(z, x, budget=2**20) for compute in (CSLS(k=k).bounds, CSLS(k=k).penalty))
    assert (bounds <= penalties).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_penalty_is_the_same_in_any_company(kind):
    x, z = unit(KINDS[kind](240, 0)), unit(KINDS[kind](310, 1))
    penalties = CSLS().penalty(z, x, budget=2**20)
    for some in (torch.tensor([4]), torch.tensor([309, 1]), torch.arange(0, 310, 7)):
        assert torch.equal(CSLS().penalty(z[some], x, budget=2**20), penalties[some])


def test_lists_that_settle_nothing_only_cost_time(monkeypatch):
    """As if rounding had ordered each list so that what is still to be settled lies just beyond its end."""
    monkeypatch.setattr(partial.Search, "_settle", lambda self, known, *_: known)
    few, whole = both(topics(240, 0), topics(310, 1))
    assert_same(few.topk(table(5, 2), 3), whole.topk(table(5, 2), 3))


def test_only_a_part_is_computed():
    x, z = topics(240, 0), topics(310, 1)
    index = CSLS().index(x, z)
    index.topk(x[:4], 1)
    after_one = int(index.partial["target"].exact.sum())
    assert 1 <= after_one < 60
    index.topk(x[:4], 1)
    assert int(index.partial["target"].exact.sum()) == after_one
    index.ranks(x[:2], index.topk(x[:2], 1).indices)
    assert after_one <= int(index.partial["target"].exact.sum()) < 100
    assert not index.penalties


def test_all_are_computed_where_many_are_wanted(monkeypatch):
    monkeypatch.setattr(base, "MOST", 0.5)
    monkeypatch.setattr(partial, "MOST", 0.5)
    x, z = topics(240, 0), topics(310, 1)
    index = CSLS().index(x, z)
    index.topk(x, 1)
    assert "target" in index.penalties
    assert not index.partial
    worst = CSLS().index(x, z)
    worst.ranks(x[:3], (x[:3] @ z.T).argmin(1, keepdim=True))  # everybody is above the gold
    assert "target" in worst.penalties


def test_small_tables_have_all_computed(monkeypatch):
    monkeypatch.setattr(base, "FEWEST", 241)
    index = CSLS().index(table(240, 0), table(310, 1))
    index.topk(table(1, 2), 1)
    assert "target" in index.penalties


@pytest.mark.parametrize("retrieval", [Nearest(), InvertedSoftmax()], ids=repr)
def test_without_bounds_all_are_computed(retrieval):
    few, whole = both(table(240, 0), table(310, 1), retrieval)
    assert_same(few.topk(table(3, 2), 4), whole.topk(table(3, 2), 4))
    assert not few.partial


def test_progress_ends_at_the_end():
    heard = []
    CSLS().index(table(240, 0), table(310, 1)).topk(table(9, 2), 2, progress=lambda *state: heard.append(state))
    assert heard[-1] == (9, 9)
