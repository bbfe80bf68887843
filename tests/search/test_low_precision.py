import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bilex.normalize import unit
from bilex.search import bfloat16, int8, low_precision, shortlist
from bilex.search import topk as kernel
from bilex.search.bfloat16 import Bfloat16
from bilex.search.blocks import BUDGET
from bilex.search.int8 import Int8
from bilex.search.lists import TopK
from bilex.search.topk import topk, topk_both


def whole_products(a, b, out=None):
    """Of a processor that has no fast ones, or a torch without the function."""
    found = (a.long() @ b.long()).to(torch.int32)
    return found if out is None else out.copy_(found)


@pytest.fixture
def products(monkeypatch):
    if not int8.is_native():
        monkeypatch.setattr(torch, "_int_mm", whole_products, raising=False)


@pytest.fixture(params=[(Int8,), (Bfloat16,), (Int8, Bfloat16)], ids=["int8", "bfloat16", "int8 then bfloat16"])
def everywhere(request, monkeypatch, products):
    """Every search begins in low precision; the fixture lists how many queries had to be searched in full."""
    in_full, searched = shortlist.search_in_full, []
    monkeypatch.setattr(kernel, "PRECISIONS", request.param)
    for kind in request.param:
        worthwhile = staticmethod(lambda queries, keys, n, kind=kind: n > 0 and kind.shortlist_size(n) < len(keys))
        monkeypatch.setattr(kind, "is_worthwhile", worthwhile)

    def spy(problem, **how):
        searched.append(len(problem.queries))
        return in_full(problem, **how)

    for module in (kernel, shortlist):
        monkeypatch.setattr(module, "search_in_full", spy)
    return searched


def normal(rows, columns, rng_seed=0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(rng_seed))


def tables(kind, q=300, m=2500, d=80):
    """Queries, keys and a bias."""
    queries, keys = unit(normal(q, d)), unit(normal(m, d, 1))
    if kind == "near":
        keys = unit(queries[torch.arange(m) % q] + 0.5 * keys)
    elif kind == "crowded":  # scores that rounding cannot tell apart
        keys = unit(normal(1, d, 2) + 1e-4 * keys)
    elif kind == "lengths":
        queries, keys = queries * normal(q, 1, 3).exp(), keys * normal(m, 1, 4).exp()
    elif kind == "integers":
        queries, keys = (torch.randint(-2, 3, (rows, d), generator=torch.Generator()).float() for rows in (q, m))
    elif kind == "twice":
        keys = keys[torch.arange(m) % (m // 50)]  # every key fifty times
    return queries, keys, normal(m, 1, 5)[:, 0] / 10


def assert_exact(found, queries, keys, n, bias=None):
    """As a whole matrix in float64 has it; where two scores differ by rounding only, either may be the first."""
    scores = queries.double() @ keys.double().T + (0 if bias is None else bias.double())
    best = scores.sort(dim=1, descending=True, stable=True)
    size = scores.abs().amax()
    torch.testing.assert_close(found.values.double() / size, best.values[:, :n] / size, rtol=0, atol=2e-6)
    torch.testing.assert_close(scores.gather(1, found.indices) / size, best.values[:, :n] / size, rtol=0, atol=2e-6)
    assert all(len(set(row)) == n for row in found.indices.tolist())
    assert (found.values.diff(dim=1) <= 0).all()


KINDS = ["random", "near", "crowded", "lengths", "integers", "twice"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 10, 70])
@pytest.mark.parametrize("with_bias", [False, True])
def test_topk_is_exact(everywhere, kind, n, with_bias):
    queries, keys, bias = tables(kind)
    bias = bias if with_bias else None
    found = topk(queries, keys, n, bias=bias)
    assert_exact(found, queries, keys, n, bias)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 15])
def test_both_ways_are_exact(everywhere, kind, n):
    x, z, _ = tables(kind, q=700, m=900)
    forward, backward = topk_both(x, z, n)
    assert_exact(forward, x, z, n)
    assert_exact(backward, z, x, n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("right", [True, False])
def test_both_ways_with_a_warm_start(everywhere, kind, right):
    x, z, _ = tables(kind, q=700, m=900)
    scores = x @ z.T
    known = [(s if right else -s).topk(20, dim=1).indices for s in (scores, scores.T)]
    forward, backward = topk_both(x, z, 15, warm_start=(known[0], known[1]))
    assert_exact(forward, x, z, 15)
    assert_exact(backward, z, x, 15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("with_bias", [False, True])
def test_one_way_with_a_warm_start(everywhere, kind, right, with_bias):
    queries, keys, bias = tables(kind)
    bias = bias if with_bias else None
    scores = queries @ keys.T + (0 if bias is None else bias)
    known = (scores if right else -scores).topk(12, dim=1).indices.to(torch.int32)
    plain, found = (topk(queries, keys, 10, bias=bias, warm_start=places) for places in (None, known))
    assert_exact(found, queries, keys, 10, bias)
    assert torch.equal(found.values, plain.values)


def test_a_warm_start_leaves_little_unproven(everywhere):
    x, z, _ = tables("near", q=1500)
    noise = unit(x + 0.02 * normal(1500, 80, 7))
    known = (noise @ z.T).topk(15, dim=1).indices, (z @ noise.T).topk(15, dim=1).indices
    topk_both(x, z, 15, warm_start=known)
    assert sum(everywhere) <= (len(x) + len(z)) / 20


@pytest.mark.parametrize("kind", ["integers", "twice"])
@pytest.mark.parametrize("n", [1, 10, 70])
def test_of_equal_scores_the_lowest_indices_are_taken(everywhere, kind, n):
    queries, keys, _ = tables(kind)
    if kind == "twice":
        queries, keys = (torch.round(8 * rows) for rows in (queries, keys))  # sums of whole numbers are exact
    found = topk(queries, keys, n)
    order = (queries @ keys.T).sort(dim=1, descending=True, stable=True)
    assert torch.equal(found.indices, order.indices[:, :n])
    assert torch.equal(found.values, order.values[:, :n])


def test_few_shortlists_stay_unproven(everywhere):
    queries, keys, _ = tables("near")
    topk(queries, keys, 10)
    assert sum(everywhere) <= len(queries) / 20


def test_what_rounding_cannot_prove_is_searched_in_full(everywhere):
    queries, keys, _ = tables("crowded")
    topk(queries, keys, 10)
    assert sum(everywhere) == len(queries)


def test_fewer_keys_than_the_size_of_a_shortlist(everywhere):
    queries, keys, _ = tables("random", m=12)
    assert_exact(topk(queries, keys, 10), queries, keys, 10)
    assert topk(queries, keys, 40).values.shape == (len(queries), 12)


def test_a_score_is_the_same_in_every_search(everywhere):
    queries, keys, bias = tables("near")
    found = topk(queries, keys, 10, bias=bias)
    some = torch.unique(torch.cat([found.indices[7], torch.arange(100)]))
    again = topk(queries[7:8], keys[some], 10, bias=bias[some])
    assert torch.equal(again.values[0], found.values[7])


def test_queries_that_are_no_numbers_prove_nothing(everywhere):
    queries, keys, _ = tables("random")
    queries[3] = torch.nan
    found = topk(queries, keys, 5)
    others = torch.arange(len(queries)) != 3
    assert_exact(TopK(found.values[others], found.indices[others]), queries[others], keys, 5)
    assert not found.values[3].isfinite().any()


def test_rows_too_short_to_be_told_from_zero_prove_nothing(everywhere):
    queries, keys, _ = tables("near")
    topk(1e-20 * queries, 1e-20 * keys, 5)
    assert sum(everywhere) == len(queries)


@pytest.mark.parametrize("kind", [Int8, Bfloat16])
@given(st.integers(0, 2**32), st.sampled_from([1, 7, 300]), st.floats(-4, 4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_score_exceeds_its_bound(kind, rng_seed, d, scale, with_bias):
    """A score is at most the upper bound of its rounded one; a rounded one at the threshold implies a lower score."""
    queries, keys = 10**scale * normal(20, d, rng_seed), normal(30, d, rng_seed + 1)
    bias = 10**scale * normal(30, 1, rng_seed + 2)[:, 0] if with_bias else None
    exact = queries.double() @ keys.double().T + (0 if bias is None else bias.double())
    precision = kind.of(queries, keys, bias=bias, budget=BUDGET)
    assume(precision is not None)
    with pytest.MonkeyPatch.context() as patched:
        if not int8.is_native():
            patched.setattr(torch, "_int_mm", whole_products, raising=False)
        [(rows, blocks)] = precision.blocks(0, 20, width=30, budget=BUDGET)
        [(_, scores)] = blocks
    assert len(rows) == len(scores) == 20
    assert scores.dtype == precision.dtype
    error = precision.upper_bound(0 * scores[:, 0], 0) if kind is Int8 else 0
    for column, score in enumerate(scores.T):
        most = precision.upper_bound(score, 0)
        assert (exact[:, column] <= most).all()
        if kind is Int8:
            assert (exact[:, column] >= most - 2 * (error - precision.shift) - 1e-6 * error.abs()).all()
        else:
            assert (-exact[:, column] <= precision.upper_bound(-score, 0)).all()
        low = precision.threshold(exact[:, column].float(), 0)
        assert low.dtype == precision.dtype
        assert (precision.upper_bound(low, 0) < exact[:, column]).all()


def test_a_bias_rides_along_in_whole_numbers(products):
    queries, keys, bias = unit(normal(50, 60)), unit(normal(900, 60, 1)), 0.3 * normal(900, 1, 2)[:, 0] + 5
    precision = Int8.of(queries, keys, bias=bias, budget=BUDGET)
    [(_, blocks)] = precision.blocks(0, 50, width=900, budget=BUDGET)
    [(_, scores)] = blocks
    torch.testing.assert_close(
        scores * precision.scale + precision.shift, queries @ keys.T + bias, rtol=0, atol=float(precision.max_error)
    )
    assert precision.bias_error < 1e-4


@pytest.mark.parametrize("bias", [1e5, torch.inf, torch.nan])
def test_a_bias_too_large_is_left_to_the_next_precision(bias):
    queries, keys = unit(normal(50, 60)), unit(normal(90, 60, 1))
    biases = torch.zeros(90)
    biases[3] = bias
    assert Int8.of(queries, keys, bias=biases, budget=BUDGET) is None


def test_whole_numbers_stay_within_the_budget():
    queries, keys = unit(normal(50, 60)), unit(normal(90, 60, 1))
    assert Int8.of(queries, keys, bias=None, budget=2 * 140 * 60) is None
    assert Int8.of(queries, keys, bias=None, budget=2 * 140 * 100) is not None


@pytest.fixture
def asked(monkeypatch):
    """How many queries whole numbers were asked for, block by block."""
    asked, blocks = [], Int8.blocks

    def spy(self, *arguments, **how):
        for part in blocks(self, *arguments, **how):
            asked.append(len(part[0]))
            yield part

    monkeypatch.setattr(Int8, "blocks", spy)
    return asked


@pytest.mark.parametrize("everywhere", [(Int8, Bfloat16)], indirect=True)
def test_what_is_mostly_unproven_is_left_to_the_next_precision(everywhere, asked):
    """After the first 256 queries, all of which are unproven."""
    queries, keys, _ = tables("crowded", q=6000)
    assert_exact(topk(queries, keys, 10), queries, keys, 10)
    assert asked == [256]


@pytest.mark.parametrize("everywhere", [(Int8, Bfloat16)], indirect=True)
@pytest.mark.parametrize(("turned", "tried"), [(False, 1), (True, 2)])
def test_what_is_mostly_unproven_either_way_is_left_to_the_next_precision(everywhere, asked, turned, tried):
    x, z, _ = tables("crowded", q=600, m=500)
    x, z = (z, x) if turned else (x, z)
    forward, backward = topk_both(x, z, 10)
    assert_exact(forward, x, z, 10)
    assert_exact(backward, z, x, 10)
    assert asked == [256] * tried


@pytest.mark.parametrize("kind", [Int8, Bfloat16])
def test_worthwhile_in_large_searches_only(monkeypatch, kind):
    module = int8 if kind is Int8 else bfloat16
    monkeypatch.setattr(module, "is_native", lambda: True)
    small, large = (torch.ones(1, 300).expand(rows, -1) for rows in (10, 60_000))
    assert kind.is_worthwhile(large, large, 10)
    assert not kind.is_worthwhile(large, large, 0)
    assert not kind.is_worthwhile(small, large, 10)
    assert not kind.is_worthwhile(large, small, 10)
    assert not kind.is_worthwhile(large[:, :20], large[:, :20], 10)
    assert not kind.is_worthwhile(large.double(), large.double(), 10)
    assert not kind.is_worthwhile(large.to("meta"), large.to("meta"), 10)
    monkeypatch.setattr(module, "is_native", lambda: False)
    assert not kind.is_worthwhile(large, large, 10)


def test_long_lists_and_few_rows_are_not_worthwhile_in_int8(monkeypatch):
    """A shortlist for the 50 best has 170 entries, for each of which there should be 1,000 keys."""
    monkeypatch.setattr(int8, "is_native", lambda: True)
    monkeypatch.setattr(bfloat16, "is_native", lambda: True)
    large = torch.ones(1, 300).expand(170_000, -1)
    assert Int8.is_worthwhile(large[:4000], large, 10)
    assert not Int8.is_worthwhile(large[:3999], large, 10)
    assert Bfloat16.is_worthwhile(large[:3999], large, 10)
    assert Int8.is_worthwhile(large, large, 50)
    assert not Int8.is_worthwhile(large, large[:-1], 50)
    assert Bfloat16.is_worthwhile(large, large[:-1], 50)


@pytest.mark.parametrize(
    ("told", "expected"), [({}, False), ({"avx512_bf16": False}, False), ({"amx_bf16": True}, True)]
)
def test_what_processors_tell(monkeypatch, told, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: told, raising=False)
    assert bfloat16.is_native.__wrapped__() is (expected and torch.backends.mkldnn.is_available())


def test_older_releases_tell_nothing(monkeypatch):
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert not low_precision.processor_has("avx512_bf16")
    assert not int8.is_native.__wrapped__()


@pytest.mark.parametrize(
    ("multiply", "expected"),
    [
        (whole_products, True),
        (lambda a, b: whole_products(a, b).clamp(-(2**15), 2**15 - 1), False),  # as some processors sum
        (None, False),
    ],
)
def test_whole_products_are_tried_first(monkeypatch, multiply, expected):
    monkeypatch.setattr(int8, "processor_has", lambda *names: True)

    def refuse(a, b):
        raise RuntimeError("not on this device")

    monkeypatch.setattr(torch, "_int_mm", multiply or refuse, raising=False)
    assert int8.is_native.__wrapped__() is expected


def test_a_torch_without_whole_products_does_without(monkeypatch):
    monkeypatch.setattr(int8, "processor_has", lambda *names: True)
    monkeypatch.delattr(torch, "_int_mm", raising=False)
    assert not int8.is_native.__wrapped__()
