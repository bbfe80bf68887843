import math

import pytest
import torch

from bilex.normalize import unit
from bilex.search import above_threshold as module
from bilex.search.above_threshold import pairs_above


def brute(table, threshold):
    products = (table.double() @ table.double().T).triu(1)
    return sorted(map(tuple, (products > threshold).nonzero().tolist()))


def found(table, threshold, **options):
    return sorted(map(tuple, pairs_above(table, threshold, **options).T.tolist()))


def skewed(n, d):
    """Rows of length 1 with a few strong directions, as word vectors have, and each with some near copies."""
    generator = torch.Generator().manual_seed(n + d)
    rows = torch.randn(n // 4, d, generator=generator) * torch.linspace(1, 0.05, d) ** 2
    return unit(rows.repeat(4, 1) + 0.03 * torch.randn(4 * (n // 4), d, generator=generator))


@pytest.mark.parametrize("d", [20, 100, 300])
@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.9, 0.99])
def test_the_pairs_are_those_of_all_products(d, threshold):
    table = skewed(2400, d)
    assert found(table, threshold) == brute(table, threshold)


def test_short_heads_are_used_where_they_pay_and_whole_rows_where_they_do_not():
    table = skewed(2400, 300)
    assert module._heads(table, 0.9).shape[1] <= 65
    assert module._heads(table, -0.9) is table
    assert module._heads(table[:, :64].contiguous(), 0.9).shape[1] == 64


def test_no_head_ever_bounds_a_product_too_low():
    table = skewed(800, 300) * torch.rand(800, 1, generator=torch.Generator().manual_seed(1))
    heads = module._heads(table, 0.9)
    assert heads is not table
    assert (heads @ heads.T >= table @ table.T - module.ROUNDING_ERROR).all()


def test_rows_of_any_length_zero_rows_and_equal_rows():
    table = skewed(600, 300)
    table[::7] *= 3
    table[5::11] = 0
    table[100:140] = table[100]
    assert found(table, 0.9) == brute(table, 0.9)
    assert (100, 139) in found(table, 0.9)


def test_where_nearly_all_are_near_they_are_all_found():
    """Of 600 rows, all but a few of the 179,700 pairs; their heads would save nothing, so the rows themselves do."""
    table = unit(skewed(600, 300) + 5)
    assert module._heads(table, 0.5) is table
    assert found(table, 0.5) == brute(table, 0.5)
    assert len(found(table, 0.5)) > 179_000


@pytest.mark.parametrize("short", [2e-6, 8e-6])
def test_pairs_just_above_the_threshold_are_found_though_bounds_are_a_little_too_low(monkeypatch, short):
    """By less than `ROUNDING_ERROR`, which is what rounding may take off them."""
    angles = torch.arange(2000) * 0.003
    table = torch.zeros(2000, 300)
    table[:, 0], table[:, 1] = angles.cos(), angles.sin()  # the heads have all there is to a product
    heads, threshold = module._heads, math.cos(5 * 0.003) - 1e-6
    monkeypatch.setattr(module, "_heads", lambda *of: heads(*of) * (1 - short) ** 0.5)
    assert module._heads(table, threshold).shape[1] == 33
    assert found(table, threshold) == [(i, j) for i in range(2000) for j in range(i + 1, min(i + 6, 2000))]


def test_blocks_of_any_size_find_the_same(monkeypatch):
    table = skewed(1000, 128)
    expected = brute(table, 0.9)
    assert found(table, 0.9, budget=1 << 16) == expected
    monkeypatch.setattr(module, "QUERY_BLOCK", 37)
    monkeypatch.setattr(module, "KEY_BLOCK", 64)
    assert found(table, 0.9) == expected
    monkeypatch.setattr(module, "BATCH", 3)
    assert found(table, 0.9) == expected


def test_a_check_is_asked_block_by_block(monkeypatch):
    monkeypatch.setattr(module, "KEY_BLOCK", 64)
    table, counts = unit(torch.ones(600, 32)), []

    def refuse(count):
        counts.append(count)
        raise OverflowError

    with pytest.raises(OverflowError):
        pairs_above(table, 0.5, check=refuse)
    assert counts[0] < 64 * 600


def test_tables_without_pairs():
    assert found(torch.empty(0, 300), 0.9) == []
    assert found(torch.ones(1, 300), 0.9) == []
    assert found(torch.eye(300), 0.9) == []


def test_progress_goes_to_the_end_and_a_check_may_end_it():
    table = skewed(5000, 100)
    seen = []
    pairs_above(table, 0.9, progress=lambda done, of: seen.append((done, of)))
    assert seen == sorted(seen)
    assert seen[-1] == (5000**2, 5000**2)

    def refuse(number):
        raise OverflowError(number)

    with pytest.raises(OverflowError):
        pairs_above(table, 0.9, check=refuse)
