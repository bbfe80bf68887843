from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bilex.search import blocks, lists, problem
from bilex.search import ranks as ranking
from bilex.search import topk as kernel
from bilex.search.blocks import BUDGET, KEY_BLOCK, QUERY_BLOCK, logsumexp
from bilex.search.ranks import ranks
from bilex.search.topk import topk, topk_both

MIB = 2**20


def integers(rows, columns, *, high=4, rng_seed=0, dtype=torch.float32):
    """Small whole numbers: sums of their products are exact, so that ties are ties in any block."""
    generator = torch.Generator().manual_seed(rng_seed)
    return torch.randint(-high, high + 1, (rows, columns), generator=generator).to(dtype)


def normal(rows, columns, *, rng_seed=0, dtype=torch.float32):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(rng_seed), dtype=dtype)


def full(queries, keys, bias=None):
    """The whole matrix that the kernel never builds."""
    return queries @ keys.T + (0 if bias is None else bias)


def assert_best(found, scores, n, *, exact=True):
    n = min(n, scores.shape[1])
    assert found.values.shape == found.indices.shape == (len(scores), n)
    assert found.values.dtype == scores.dtype
    tolerance = {"rtol": 0, "atol": 0} if exact else {}
    torch.testing.assert_close(found.values, scores.sort(1, descending=True).values[:, :n], **tolerance)
    torch.testing.assert_close(found.values, scores.gather(1, found.indices), **tolerance)
    for values, indices in zip(found.values.tolist(), found.indices.tolist(), strict=True):
        assert len(set(indices)) == n
        ordered = sorted(zip(values, indices, strict=True), key=lambda pair: (-pair[0], pair[1]))
        assert indices == [index for _, index in ordered]


def slow_ranks(scores, gold):
    """One more than there are other keys that score at least as high as the best gold one."""
    found = []
    for row, golds in zip(scores.tolist(), gold.tolist(), strict=True):
        right = {place for place in golds if place >= 0}
        level = max((row[place] for place in right), default=-float("inf"))
        found.append(1 + sum(score >= level for place, score in enumerate(row) if place not in right))
    return torch.tensor(found, dtype=torch.long)


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks at little cost; nothing is divisible by anything."""
    set_sizes(monkeypatch, {"KEY_BLOCK": 12, "QUERY_BLOCK": 5, "GROUP_SIZE": 4})


def set_sizes(patch, sizes):
    """Wherever they are known."""
    for module, (name, value) in product([lists, blocks, problem, ranking, kernel], sizes.items()):
        if hasattr(module, name):
            patch.setattr(module, name, value)


@st.composite
def searches(draw):
    """Tables of any shape, with ties, and block sizes of any kind."""
    q, m, d = draw(st.integers(0, 12)), draw(st.integers(1, 150)), draw(st.integers(1, 4))
    high, rng_seed = draw(st.sampled_from([1, 4, 100])), draw(st.integers(0, 2**32))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    queries, keys = (integers(rows, d, high=high, rng_seed=rng_seed + rows, dtype=dtype) for rows in (q, m))
    if draw(st.booleans()):
        keys = keys[full(queries[:1], keys).sum(0).argsort()]  # for the first query, ascending
    bias = integers(m, 1, rng_seed=rng_seed, dtype=dtype)[:, 0] if draw(st.booleans()) else None
    sizes = {
        "KEY_BLOCK": draw(st.integers(1, 64)),
        "QUERY_BLOCK": draw(st.integers(1, 6)),
        "GROUP_SIZE": draw(st.integers(1, 8)),
        "SCORES_PER_CANDIDATE": draw(st.sampled_from([1, 8, 1000])),
    }
    return queries, keys, bias, sizes, draw(st.sampled_from([1, 1000, BUDGET]))


@given(searches(), st.integers(1, 200))
@settings(max_examples=200, deadline=None)
def test_topk_is_exact_for_all_shapes(search, n):
    queries, keys, bias, sizes, budget = search
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, sizes)
        found = topk(queries, keys, n, bias=bias, budget=budget)
    assert_best(found, full(queries, keys, bias), n)


@pytest.mark.parametrize("multiplied", [False, True], ids=["", "products known"])
@given(searches(), st.integers(1, 200))
@settings(max_examples=200, deadline=None)
def test_both_ways_are_exact_for_all_shapes(multiplied, search, n):
    queries, keys, _, sizes, budget = search
    matrix = full(queries, keys) if multiplied and len(queries) else None
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, {**sizes, "ALIGNED_QUERY_BLOCK": sizes["QUERY_BLOCK"]})
        forward, backward = topk_both(queries, keys, n, matrix=matrix, budget=budget)
    assert_best(forward, full(queries, keys), n)
    assert_best(backward, full(keys, queries), n)


def places(kind, scores, n, rng_seed=0):
    """Keys that a search is to expect near, n and a few of each row: the right ones, or not."""
    width = min(n + 3, scores.shape[1])
    random = torch.rand(scores.shape, generator=torch.Generator().manual_seed(rng_seed)).argsort(1)[:, :width]
    best = scores.argsort(1, descending=True)[:, :width]
    return {"best": best, "random": random, "all the same": random[:, :1].expand(-1, width), "worst": best.flip(1)}[
        kind
    ]


WARM_STARTS = ["best", "random", "worst", "all the same"]


@given(searches(), st.integers(1, 200), st.sampled_from(WARM_STARTS))
@settings(max_examples=200, deadline=None)
def test_a_warm_start_changes_nothing(search, n, kind):
    queries, keys, _, sizes, budget = search
    warm_start = places(kind, full(queries, keys), n), places(kind, full(keys, queries), n)
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, {**sizes, "ALIGNED_QUERY_BLOCK": sizes["QUERY_BLOCK"]})
        forward, backward = topk_both(queries, keys, n, warm_start=warm_start, budget=budget)
    assert_best(forward, full(queries, keys), n)
    assert_best(backward, full(keys, queries), n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("n", [1, 10, 34, 200, 416])
def test_the_largest_are_in_the_groups_with_the_largest_maxima(n, turned, dtype):
    scores = normal(416, 30).to(dtype).T if turned else normal(30, 416).to(dtype)
    found = lists.largest_of_block(scores, n)
    assert torch.equal(found.values.sort(1, descending=True).values, scores.sort(1, descending=True).values[:, :n])
    assert torch.equal(found.values, scores.gather(1, found.indices))
    assert all(len(set(row)) == n for row in found.indices.tolist())


@pytest.mark.parametrize("n", [1, 10, 40])
def test_both_ways_with_the_real_block_sizes(n):
    x, z = normal(5001, 8), normal(4163, 8, rng_seed=1)
    seen = []
    forward, backward = topk_both(x, z, n, progress=lambda done, of: seen.append((done, of)))
    assert_best(forward, full(x, z), n, exact=False)
    assert_best(backward, full(z, x), n, exact=False)
    assert seen == [(2496, 5001), (4992, 5001), (5001, 5001)]


@given(searches(), st.data())
@settings(max_examples=150, deadline=None)
def test_ranks_are_exact_for_all_shapes(search, data):
    queries, keys, bias, sizes, budget = search
    width = data.draw(st.integers(1, 4))
    gold = torch.randint(0, len(keys), (len(queries), width), generator=torch.Generator().manual_seed(0))
    gold[:, 1:][torch.rand(gold[:, 1:].shape, generator=torch.Generator().manual_seed(1)) < 0.5] = -1
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, sizes)
        found = ranks(queries, keys, gold, bias=bias, budget=budget)
    assert found.tolist() == slow_ranks(full(queries, keys, bias), gold).tolist()


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("n", [1, 10, 64, 65, 300, 5000])
@pytest.mark.parametrize("m", [1, 31, 2048, 2049, 5000])
def test_topk_with_the_real_block_sizes(m, n, with_bias):
    queries, keys = normal(7, 20), normal(m, 20, rng_seed=1)
    bias = normal(m, 1, rng_seed=2)[:, 0] if with_bias else None
    assert_best(topk(queries, keys, n, bias=bias), full(queries, keys, bias), n, exact=False)


def test_more_queries_than_one_block_of_rows():
    queries, keys = normal(QUERY_BLOCK + 3, 4), normal(50, 4, rng_seed=1)
    assert_best(topk(queries, keys, 2), full(queries, keys), 2, exact=False)


@pytest.mark.parametrize("order", ["ascending", "descending"])
@pytest.mark.parametrize("n", [1, 3, 40])
@pytest.mark.usefixtures("small_blocks")
def test_sorted_scores_defeat_no_shortcut(order, n):
    keys = torch.arange(500.0)[:, None] * (1 if order == "ascending" else -1)
    assert_best(topk(torch.ones(11, 1), keys, n), full(torch.ones(11, 1), keys), n)


@pytest.mark.parametrize("n", [1, 2, 7, 100])
@pytest.mark.usefixtures("small_blocks")
def test_equal_scores_come_in_index_order(n):
    found = topk(torch.ones(6, 3), torch.ones(100, 3), n)
    assert (found.values == 3).all()
    assert (found.indices == torch.arange(n)).all()


@pytest.mark.usefixtures("small_blocks")
def test_duplicated_keys_are_all_found():
    keys = integers(30, 4).repeat(3, 1)
    assert_best(topk(integers(9, 4, rng_seed=1), keys, 8), full(integers(9, 4, rng_seed=1), keys), 8)


def test_no_queries():
    queries, keys = torch.empty(0, 3), normal(8, 3)
    found = topk(queries, keys, 5)
    assert found.values.shape == found.indices.shape == (0, 5)
    assert found.indices.dtype == torch.long
    assert logsumexp(queries, keys, scale=1).shape == (0,)
    assert ranks(queries, keys, torch.empty(0, 2, dtype=torch.long)).shape == (0,)


@pytest.mark.usefixtures("small_blocks")
def test_the_budget_does_not_change_the_result():
    queries, keys = integers(23, 5), integers(200, 5, rng_seed=1)
    bias = torch.arange(200) / 256  # with whole numbers as products no two scores are equal, and all are exact
    results = [topk(queries, keys, 4, bias=bias, budget=budget) for budget in (1, 500, 5000, BUDGET)]
    for result in results[1:]:
        assert torch.equal(result.values, results[0].values)
        assert torch.equal(result.indices, results[0].indices)


def test_inputs_are_untouched():
    tensors = normal(20, 4), normal(70, 4, rng_seed=1), normal(70, 1, rng_seed=2)[:, 0]
    copies = [tensor.clone() for tensor in tensors]
    queries, keys, bias = tensors
    topk(queries, keys, 3, bias=bias)
    logsumexp(queries, keys, scale=30)
    ranks(queries, keys, torch.zeros(20, 1, dtype=torch.long), bias=bias)
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(tensors, copies, strict=True))


@pytest.mark.usefixtures("small_blocks")
def test_progress_ends_at_the_end():
    heard = []
    topk(normal(13, 3), normal(40, 3), 2, progress=lambda *state: heard.append(state))
    assert heard == [(5, 13), (10, 13), (13, 13)]
    heard.clear()
    logsumexp(normal(13, 3), normal(40, 3), scale=1, progress=lambda *state: heard.append(state))
    assert heard[-1] == (13, 13)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [0.5, 30, 1000])
@pytest.mark.parametrize("m", [1, 11, 12, 100])
@pytest.mark.usefixtures("small_blocks")
def test_logsumexp(m, scale, dtype):
    queries, keys = normal(17, 6, dtype=dtype), normal(m, 6, rng_seed=1, dtype=dtype)
    found = logsumexp(queries, keys, scale=scale)
    torch.testing.assert_close(found, (scale * full(queries, keys)).logsumexp(1))
    torch.testing.assert_close(found, logsumexp(queries, keys, scale=scale, budget=1))


@pytest.mark.parametrize("with_bias", [False, True])
def test_a_gold_key_ranked_r_is_at_place_r_of_topk(with_bias):
    queries, keys = normal(300, 8), normal(3000, 8, rng_seed=1)
    bias = normal(3000, 1, rng_seed=2)[:, 0] if with_bias else None
    gold = torch.randint(0, 3000, (300, 5), generator=torch.Generator().manual_seed(0))
    gold[::2, 2:] = -1
    found = ranks(queries, keys, gold, bias=bias)
    best = topk(queries, keys, 500, bias=bias).indices
    inside = found <= 500
    assert 50 < inside.sum() < 300
    for place, row, golds in zip(found.tolist(), best.tolist(), gold.tolist(), strict=True):
        first = next((i for i, key in enumerate(row, 1) if key in golds), None)
        assert first == (place if place <= 500 else None)


@pytest.mark.parametrize(
    ("gold", "rank"),
    [([2, -1, -1], 4), ([-1, 4, -1], 4), ([2, 4, 4], 3), ([4, -1, 2], 3), ([4, 3, 2], 2), ([1, 3, -1], 1)],
)
def test_ranks_by_hand(gold, rank):
    """Others that score the same come before; other right answers do not."""
    keys = torch.tensor([[1.0], [5.0], [3.0], [3.0], [3.0]])
    assert ranks(torch.ones(1, 1), keys, torch.tensor([gold])).tolist() == [rank]
    keys = torch.tensor([[-1.0], [-5.0], [-3.0], [-3.0], [-3.0]])
    assert ranks(-torch.ones(1, 1), keys, torch.tensor([gold])).tolist() == [rank]


def test_scores_that_are_no_numbers_never_look_like_success():
    """A map that diverged must not come out with a precision of 100."""
    queries = torch.tensor([[torch.nan, 1.0], [1.0, 1.0]])
    found = ranks(queries, torch.eye(2).repeat(20, 1), torch.tensor([[7], [39]]))
    assert found[0] >= 40
    assert found[1] == 40


def hard_tables(kind, m, queries=600):
    """Random; ever better keys for all queries; or for one query in ten, while the others see one now and then."""
    rising = torch.arange(m, dtype=torch.float32)
    if kind == "random":
        return normal(queries, 8), normal(m, 8, rng_seed=1)
    if kind == "ascending":
        return torch.ones(queries, 1), rising[:, None]
    x, falling = torch.tensor([[0.0, 1.0]]).repeat(queries, 1), -rising
    x[::10] = torch.tensor([1.0, 0.0])
    falling[:: KEY_BLOCK + 1] = rising[:: KEY_BLOCK + 1]
    return x, torch.stack([rising, falling], 1)


@pytest.mark.parametrize("kind", ["random", "ascending", "uneven"])
@pytest.mark.parametrize(("m", "n"), [(10_000, 10), (9_999, 10), (1_001, 10), (10_000, 100), (12_000, 500)])
def test_topk_stays_within_its_budget(peak_bytes, kind, m, n):
    queries, keys = hard_tables(kind, m)
    result = 2 * len(queries) * n * (4 + 8)  # as parts, and put together
    budget = 8 * MIB
    assert peak_bytes(lambda: topk(queries, keys, n, budget=budget)) - result <= budget


@pytest.mark.parametrize(
    "call",
    [
        lambda x, z, budget: logsumexp(x, z, scale=30, budget=budget),
        lambda x, z, budget: ranks(x, z, torch.zeros(len(x), 3, dtype=torch.long), budget=budget),
        lambda x, z, budget: ranks(x, z, torch.zeros(len(x), 3, dtype=torch.long), bias=z[:, 0], budget=budget),
        lambda x, z, budget: topk_both(x, z, 1, budget=budget),
    ],
    ids=["logsumexp", "ranks", "ranks with bias", "both ways"],
)
def test_the_others_stay_within_their_budget(peak_bytes, call):
    x, z = hard_tables("random", 9_999)
    assert peak_bytes(lambda: call(x, z, 8 * MIB)) <= 8 * MIB


@given(searches(), st.integers(1, 200))
@settings(max_examples=150, deadline=None)
def test_of_equal_scores_the_lowest_indices_are_taken(search, n):
    queries, keys, bias, sizes, budget = search
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, sizes)
        found = topk(queries, keys, n, bias=bias, budget=budget)
    order = full(queries, keys, bias).sort(dim=1, descending=True, stable=True)
    assert torch.equal(found.indices, order.indices[:, :n])
