import pytest
import torch

from bilex.errors import SettingsError
from bilex.retrieval import CSLS, RETRIEVALS, InvertedSoftmax, Nearest
from bilex.search.blocks import KEY_BLOCK

CHOICES = [CSLS(), CSLS(k=3), Nearest(), InvertedSoftmax(), InvertedSoftmax(beta=5.0)]
DIRECTIONS = ["forward", "backward"]


def normal(rows, rng_seed):
    return torch.randn(rows, 6, generator=torch.Generator().manual_seed(rng_seed), dtype=torch.float64)


def cosines(a, b):
    return (a / a.norm(dim=1, keepdim=True)) @ (b / b.norm(dim=1, keepdim=True)).T


def neighbourhood(rows, others, k):
    """Mean of the k largest cosines into the other table."""
    return cosines(rows, others).sort(1, descending=True).values[:, :k].mean(1)


FORMULAS = {
    "nn": lambda _, queries, __, candidates: cosines(queries, candidates),
    "csls": lambda it, queries, own, candidates: (
        2 * cosines(queries, candidates)
        - neighbourhood(queries, candidates, it.k)[:, None]
        - neighbourhood(candidates, own, it.k)
    ),
    "isf": lambda it, queries, own, candidates: (
        it.beta * cosines(queries, candidates) - (it.beta * cosines(candidates, own)).exp().sum(1).log()
    ),
}
"""Scores of queries by the written formula; `own` is the whole table of the queries' language."""


def whole(tables, direction):
    x, z = tables
    return (x, z) if direction == "forward" else (z, x)


def assert_same(found, scores, n):
    best = scores.topk(n)
    torch.testing.assert_close(found.values, best.values)
    assert found.indices.tolist() == best.indices.tolist()


@pytest.fixture(scope="module")
def tables():
    return normal(90, 0), normal(110, 1) + 0.4  # not centred: some candidates are hubs


def test_every_retrieval_is_tried():
    assert {type(choice) for choice in CHOICES} == set(RETRIEVALS.values())
    assert all(retrieval.name == name for name, retrieval in RETRIEVALS.items())
    assert set(FORMULAS) == set(RETRIEVALS)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("retrieval", CHOICES, ids=repr)
class TestAgainstTheFormula:
    def test_the_whole_table_as_queries(self, tables, retrieval, direction):
        own, candidates = whole(tables, direction)
        scores = FORMULAS[retrieval.name](retrieval, own, own, candidates)
        assert_same(retrieval.index(*tables).topk(own, 7, direction), scores, 7)

    def test_queries_do_not_change_the_penalties(self, tables, retrieval, direction):
        """One and a few queries, of the table or not: a penalty over the queries would show."""
        own, candidates = whole(tables, direction)
        index = retrieval.index(*tables)
        for queries in (own[5:6], own[10:14], normal(3, 9), 100 * own[:2]):
            scores = FORMULAS[retrieval.name](retrieval, queries, own, candidates)
            assert_same(index.topk(queries, 4, direction), scores, 4)

    def test_the_best_of_every_row(self, tables, retrieval, direction):
        """From the lists that computing the penalties leaves, where it does."""
        own, candidates = whole(tables, direction)
        index, rows = retrieval.index(*tables), torch.arange(len(own))
        index.prepare()
        scores = FORMULAS[retrieval.name](retrieval, own, own, candidates)
        assert_same(index.topk(own, 1, direction, rows=rows), scores, 1)
        assert_same(index.topk(own[20:50], 1, direction, rows=rows[20:50]), scores[20:50], 1)

    @pytest.mark.parametrize("n", [1, 7])
    def test_all_rows_both_ways_at_once(self, tables, retrieval, direction, n):
        own, candidates = whole(tables, direction)
        found = retrieval.index(*tables).topk_both(n)[DIRECTIONS.index(direction)]
        assert_same(found, FORMULAS[retrieval.name](retrieval, own, own, candidates), n)

    def test_known_rows_give_the_same(self, tables, retrieval, direction):
        own, _ = whole(tables, direction)
        rows = torch.tensor([8, 3, 3, 89])
        index = retrieval.index(*tables)
        plain = index.topk(own[rows], 5, direction)
        for _ in range(2):  # before and after the penalties of the queries' own side are there
            known = index.topk(own[rows], 5, direction, rows=rows)
            torch.testing.assert_close(known.values, plain.values)
            assert known.indices.tolist() == plain.indices.tolist()
            index.penalty("source" if direction == "forward" else "target")

    def test_first_leaves_later_candidates_out_but_not_of_the_penalties(self, tables, retrieval, direction):
        own, candidates = whole(tables, direction)
        scores = FORMULAS[retrieval.name](retrieval, own, own, candidates)[:, :20]
        assert_same(retrieval.index(*tables).topk(own, 6, direction, first=20), scores, 6)
        assert retrieval.index(*tables).topk(own, 50, direction, first=20).values.shape == (len(own), 20)

    @pytest.mark.parametrize("n", [1, 4])
    def test_first_where_the_table_is_more_than_a_block(self, tables, retrieval, direction, n):
        """And what is left of the last block is not all of it."""
        long = torch.cat([tables[1], normal(2 * KEY_BLOCK, 2)])
        both = (tables[0][:30], long) if direction == "forward" else (long, tables[0][:30])
        own, candidates = whole(both, direction)
        scores = FORMULAS[retrieval.name](retrieval, own, own, candidates)[:, : KEY_BLOCK + 50]
        index = retrieval.index(*both)
        assert_same(index.topk(own, n, direction, first=KEY_BLOCK + 50), scores, n)
        index.prepare()
        assert_same(index.topk(own, n, direction, first=KEY_BLOCK + 50, rows=torch.arange(30)), scores, n)

    def test_ranks(self, tables, retrieval, direction):
        own, candidates = whole(tables, direction)
        gold = torch.stack([torch.arange(20), torch.arange(20) - 1], 1)  # the first has one gold, the others two
        scores = FORMULAS[retrieval.name](retrieval, own[:20], own, candidates)
        best = scores.gather(1, gold.clamp_min(0)).masked_fill(gold < 0, -torch.inf).amax(1, keepdim=True)
        found = retrieval.index(*tables).ranks(own[:20], gold, direction)
        assert found.tolist() == ((scores > best).sum(1) + 1).tolist()

    def test_small_budget_and_progress(self, tables, retrieval, direction):
        own, candidates = whole(tables, direction)
        heard = []
        index = retrieval.index(*tables, budget=1)
        scores = FORMULAS[retrieval.name](retrieval, own, own, candidates)
        assert_same(index.topk(own, 3, direction, progress=lambda *state: heard.append(state)), scores, 3)
        assert heard[-1] == (len(own), len(own))


def one_sided(rows, rng_seed):
    """Rows that are all near to each other."""
    return (normal(rows, rng_seed) + 5 * torch.eye(6)[0]).float()


NEAR, FAR = one_sided(4000, 0), torch.cat([one_sided(2000, 1), -one_sided(2000, 2)])
SEARCHES = {  # of an index whose penalties are known, and of one where they are not
    "topk": (FAR, True, lambda index: index.topk(NEAR, 2)),
    "the best of rows": (FAR, True, lambda index: index.topk(NEAR, 1, rows=torch.arange(len(NEAR)))),
    "ranks": (FAR, True, lambda index: index.ranks(NEAR, torch.arange(len(NEAR))[:, None])),
    "ranks of some": (FAR, False, lambda index: index.ranks(NEAR[:1500], torch.arange(1500)[:, None])),
    "penalties": (FAR, False, lambda index: index.prepare()),
    "a few": (one_sided(800, 3), False, lambda index: index.topk(index.z[:3], 2, "backward")),
}


@pytest.mark.parametrize(("z", "known", "search"), SEARCHES.values(), ids=SEARCHES)
def test_a_small_budget_is_kept_to(peak_bytes, monkeypatch, z, known, search):
    """Lists of each row come on top of it; blocks of products, which would be several times as large, do not."""
    monkeypatch.setattr("bilex.retrieval.index.MIN_ROWS", 0)
    peaks = []
    for budget in ({"budget": 2**20}, {}):
        index = CSLS().index(NEAR, z, **budget)
        if known:
            index.prepare()
        peaks.append(peak_bytes(lambda index=index: search(index)))
    assert peaks[0] < 0.4 * peaks[1]


def test_penalties_are_computed_once(tables, monkeypatch):
    index, calls, once = CSLS().index(*tables), [], CSLS.penalty
    monkeypatch.setattr(CSLS, "penalty", lambda self, *tables, **more: calls.append(1) or once(self, *tables, **more))
    for _ in range(3):
        index.penalty("target")
    assert len(calls) == 1


@pytest.mark.parametrize("known", [(), ("source",), ("target",)], ids=str)
@pytest.mark.parametrize("retrieval", CHOICES, ids=repr)
def test_both_prepared_together_are_those_of_each_to_the_bit(tables, retrieval, known):
    together, one_by_one = retrieval.index(*tables), retrieval.index(*tables)
    for side in known:
        together.penalty(side)
    together.prepare()
    for side in ("source", "target"):
        expected = one_by_one.penalty(side)
        assert together.penalties[side] is expected is None or torch.equal(together.penalties[side], expected)


def test_a_whole_lexicon_takes_one_search_for_the_penalties(tables, monkeypatch):
    calls = []
    monkeypatch.setattr(CSLS, "penalty", lambda *_, **__: calls.append(1))
    index = CSLS().index(*tables)
    index.topk(tables[0], 1, rows=torch.arange(len(tables[0])))
    assert set(index.penalties) == {"source", "target"}
    assert not calls


def test_csls_over_the_queries_would_be_noticed(tables):
    """The formula with the common mistake in it gives other answers on these tables, so the tests above bite."""
    own, candidates = tables
    right = FORMULAS["csls"](CSLS(), own[:4], own, candidates)
    wrong = FORMULAS["csls"](CSLS(), own[:4], own[:4], candidates)
    assert right.argmax(1).tolist() != wrong.argmax(1).tolist()


def test_k_beyond_the_table_takes_all_of_it(tables):
    x, z = tables
    found = CSLS(k=1000).index(x, z).topk(x, 3)
    assert_same(found, FORMULAS["csls"](CSLS(k=1000), x, x, z), 3)


def test_zero_rows_do_no_harm():
    x, z = torch.eye(3, dtype=torch.float64), torch.eye(3, dtype=torch.float64)
    x[1] = 0
    for retrieval in CHOICES:
        assert retrieval.index(x, z).topk(x, 3).values.isfinite().all()


@pytest.mark.parametrize(("make", "words"), [(lambda: CSLS(k=0), "k is 0"), (lambda: InvertedSoftmax(beta=0), "beta")])
def test_settings_out_of_range(make, words):
    with pytest.raises(SettingsError, match=words):
        make()


def test_a_retrieval_is_a_value():
    assert CSLS(k=3) == CSLS(k=3) != CSLS()
    assert hash(CSLS(k=3)) == hash(CSLS(k=3))
    with pytest.raises(AttributeError):
        CSLS().k = 3
